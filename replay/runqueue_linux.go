package replay

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// threadRunQueue returns how long the calling thread was ready to run and had
// no CPU: the second number of its schedstat. It is 0 where the kernel does
// not count.
func threadRunQueue() time.Duration {
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(unix.Gettid()) + "/schedstat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}
