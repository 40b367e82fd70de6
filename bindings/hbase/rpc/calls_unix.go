//go:build unix && !linux

package rpc

import "syscall"

func writeSocket(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }
func readSocket(fd uintptr, b []byte) (int, error)  { return syscall.Read(int(fd), b) }
