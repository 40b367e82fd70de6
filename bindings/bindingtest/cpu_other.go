//go:build !unix

package bindingtest

import "time"

// processCPU is not told here.
func processCPU() time.Duration { return 0 }
