// Package bench holds the closing measurements (make bench): what the product
// costs, each as a ratio of two things that were measured in turns within one
// run, so that a slow or busy machine slows both. Everything in it is real: the
// binary that a user gets, its reference helper, its stores on disk.
package bench
