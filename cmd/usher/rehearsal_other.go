//go:build !linux

package main

import "os/exec"

// endsWithUs does nothing here.
func endsWithUs(*exec.Cmd) {}
