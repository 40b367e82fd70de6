package rpc

import (
	"syscall"
	"unsafe"
)

// Go's scheduler is told of a system call since it may take long. Calls on a socket
// that doesn't block take as long as the kernel needs to copy, and to tell of them
// took two fifths of the client's CPU time: an UPDATE took 9.0 µs with it and takes
// 5.4 without, 32 in flight.

func writeSocket(fd uintptr, b []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, b) }
func readSocket(fd uintptr, b []byte) (int, error)  { return rawCall(syscall.SYS_READ, fd, b) }

func rawCall(number, fd uintptr, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
