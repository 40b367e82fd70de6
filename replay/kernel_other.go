//go:build !linux

package replay

import "time"

// What only Linux tells is not known on this platform.

func threadRunQueue() time.Duration                    { return 0 }
func processRunQueue() time.Duration                   { return 0 }
func cpuBusy() []time.Duration                         { return nil }
func clockSource() string                              { return "" }
func scheduling() (policy string, slack time.Duration) { return "", 0 }
