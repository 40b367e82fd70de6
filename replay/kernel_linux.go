package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// threadRunQueue returns how long the calling thread was ready to run and had
// no CPU. It is 0 where the kernel does not count.
func threadRunQueue() time.Duration {
	return runDelay("/proc/self/task/" + strconv.Itoa(unix.Gettid()) + "/schedstat")
}

// processRunQueue returns the same summed over the threads that exist.
func processRunQueue() time.Duration {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, file := range files {
		sum += runDelay(file)
	}
	return sum
}

// runDelay reads the second number of a schedstat file: ns spent waiting for a
// CPU.
func runDelay(path string) time.Duration {
	b, err := os.ReadFile(path)
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

// clockTick is the unit of /proc/stat; the kernel shows it as 100 to the second
// to programs, whatever its own is.
const clockTick = time.Second / 100

// cpuBusy returns how long each CPU of the machine has been busy so far, in
// units of clockTick; nil if unknown.
func cpuBusy() []time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	return parseCPUBusy(string(b))
}

// parseCPUBusy reads the lines "cpu0 user nice system idle iowait irq softirq
// steal …": all but idle and iowait is busy, and to steal is to be kept from
// running.
func parseCPUBusy(stat string) (busy []time.Duration) {
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") || fields[0] == "cpu" {
			continue
		}
		var sum int64
		for i, f := range fields[1:9] {
			const idle, iowait = 3, 4
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return nil
			}
			if i != idle && i != iowait {
				sum += n
			}
		}
		busy = append(busy, time.Duration(sum)*clockTick)
	}
	return busy
}

// clockSource names what the kernel reads the time from.
func clockSource() string {
	b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// scheduling returns the policy and the niceness of the calling thread, and the
// slack of its timers while it sleeps for the pacer.
func scheduling() (policy string, slack time.Duration) {
	names := map[int]string{unix.SCHED_NORMAL: "SCHED_OTHER", unix.SCHED_FIFO: "SCHED_FIFO", unix.SCHED_RR: "SCHED_RR", unix.SCHED_BATCH: "SCHED_BATCH", unix.SCHED_IDLE: "SCHED_IDLE"}
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return "", timerSlack
	}
	name, known := names[int(attr.Policy)]
	if !known {
		name = fmt.Sprintf("policy %d", attr.Policy)
	}
	return fmt.Sprintf("%s, nice %d", name, attr.Nice), timerSlack
}
