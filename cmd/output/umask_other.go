//go:build !unix

package output

import "io/fs"

// umask is a notion of Unix.
func umask() fs.FileMode { return 0 }
