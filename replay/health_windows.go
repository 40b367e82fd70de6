package replay

import (
	"time"

	"golang.org/x/sys/windows"
)

// processCPU returns the CPU time that the process has used.
func processCPU() (user, system time.Duration) {
	var created, exited, kernel, u windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &u); err != nil {
		return 0, 0
	}
	// A Filetime of a span counts 100 ns; Nanoseconds would take it for a date.
	span := func(f windows.Filetime) time.Duration {
		return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
	}
	return span(u), span(kernel)
}
