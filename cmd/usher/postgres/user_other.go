//go:build !linux

package postgres

import (
	"os/exec"
	"syscall"
)

// become makes a command run as the server's user, in a process group of its own so that Ctrl-C reaches usher only.
func (u *user) become(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if u.other {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid}
	}
}
