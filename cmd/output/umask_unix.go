//go:build unix

package output

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask returns the process's umask, which can only be read by setting it.
var umask = sync.OnceValue(func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
})
