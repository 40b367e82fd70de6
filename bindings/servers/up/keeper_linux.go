package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// startKeeper starts this program again in a session of its own, so that no
// terminal ends it. It returns the number of its process and its output, which
// ends when the server answers or the process has ended.
func startKeeper(name string) (pid int, output io.Reader, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer write.Close()
	cmd := exec.Command(program, "-keep", name)
	cmd.Stdout, cmd.Stderr = write, write
	// Not where the caller stands: that would be kept from being unmounted.
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, read, nil
}

// detach lets go of the caller's pipe: from now on nobody reads what is said.
func detach() error {
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for _, fd := range []int{1, 2} {
		if err := syscall.Dup3(int(nothing.Fd()), fd, 0); err != nil {
			return err
		}
	}
	return nothing.Close()
}
