package rush

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Used is what a process has used of the machine.
type Used struct {
	MemoryMB float64 // the most it had at once
	CPU      float64 // seconds its processor worked
}

// ticksPerSecond is what Linux tells processor times in, on every machine Go runs on.
const ticksPerSecond = 100

// Used tells what the server used until now, as far as this system says it (Linux does); PostgreSQL is not counted.
func (s *Server) Used() Used {
	var u Used
	pid := strconv.Itoa(s.cmd.Process.Pid)
	if text, err := os.ReadFile("/proc/" + pid + "/status"); err == nil {
		for line := range bytes.Lines(text) {
			var kb float64
			if n, _ := fmt.Sscanf(string(line), "VmHWM: %f kB", &kb); n == 1 {
				u.MemoryMB = kb / 1024
			}
		}
	}
	if text, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil {
		after := text[bytes.LastIndexByte(text, ')')+1:] // the name may have spaces
		const user, system = 11, 12                      // fields after the name
		if fields := bytes.Fields(after); len(fields) > system {
			for _, field := range fields[user : system+1] {
				ticks, err := strconv.ParseFloat(string(field), 64)
				if err == nil {
					u.CPU += ticks / ticksPerSecond
				}
			}
		}
	}
	return u
}

// processorTime is what this process has had of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it knows itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
