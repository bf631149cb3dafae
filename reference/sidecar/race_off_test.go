//go:build !race

package sidecar

const raceDetector = false
