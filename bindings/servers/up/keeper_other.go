//go:build !linux

package main

import (
	"errors"
	"io"
)

var errLinuxOnly = errors.New("servers are started on Linux alone")

func startKeeper(string) (int, io.Reader, error) { return 0, nil, errLinuxOnly }

func detach() error { return errLinuxOnly }
