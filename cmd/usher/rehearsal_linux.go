package main

import (
	"os/exec"
	"syscall"
)

// endsWithUs ends a program when this process is killed. It is the leader of a group, so that Ctrl-C reaches it by us alone.
func endsWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
