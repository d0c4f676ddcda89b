package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// yield gives this process, and those it starts, one core, and of that only what others do not want: the scheduler runs others first, and
// so does the disk. Each thread has settings of its own, and hands them on.
func yield() error {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		return fmt.Errorf("ask for the cores: %w", err)
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil { // if memory runs out, this ends first
		return fmt.Errorf("stand back for memory: %w", err)
	}
	last := 0
	for i := range 1024 {
		if cores.IsSet(i) {
			last = i
		}
	}
	var one unix.CPUSet
	one.Set(last)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list the threads: %w", err)
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(filepath.Base(task.Name()))
		if err != nil {
			return fmt.Errorf("list the threads: %w", err)
		}
		if err := yieldThread(id, &one); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			return err
		}
	}
	return nil
}

func yieldThread(id int, core *unix.CPUSet) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, id, lowest); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	if err := unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: lowest}, 0); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	if err := unix.SchedSetaffinity(id, core); err != nil {
		return fmt.Errorf("keep to one core: %w", err)
	}
	const process, idle = 1, 3 << 13 // of the disk, as ioprio_set(2) has them
	if _, _, failed := unix.Syscall(unix.SYS_IOPRIO_SET, process, uintptr(id), idle); failed != 0 && failed != unix.EPERM {
		return fmt.Errorf("lower the priority at the disk: %w", failed)
	}
	return nil
}

// endsWithUs ends a program when this process is killed. It is the leader of a group, so that Ctrl-C reaches it by us alone.
func endsWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
