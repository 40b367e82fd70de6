//go:build !linux

package replay

import "time"

// threadRunQueue is not known on this platform.
func threadRunQueue() time.Duration { return 0 }
