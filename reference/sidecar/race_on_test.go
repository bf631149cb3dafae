//go:build race

package sidecar

const raceDetector = true
