package crashpoint_test

import "unsafe"

func unsafePointer[T any](to *T) unsafe.Pointer { return unsafe.Pointer(to) }

func harness() {}
