//go:build !linux

package servers

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// process stands for what is started on Linux alone.
type process struct {
	ended chan struct{}
	err   error
}

var errLinuxOnly = errors.New("servers are started on Linux alone; give the address of one that runs")

func startProcess(*exec.Cmd) (*process, error) { return nil, errLinuxOnly }

func (p *process) signal(syscall.Signal) {}
func (p *process) pause()                {}
func (p *process) resume()               {}
func (p *process) kill()                 {}

func own(*exec.Cmd, string, string) error { return errLinuxOnly }

func exclusive(string, func() error) error { return errLinuxOnly }

func lockNow(string) (*os.File, error) { return nil, errLinuxOnly }

func terminate(int) error { return errLinuxOnly }
