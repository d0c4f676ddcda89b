//go:build !linux

package main

import "errors"

var errNoDisk = errors.New("a disk in memory is made on Linux only")

func mountDisk(string) error   { return errNoDisk }
func unmountDisk(string) error { return nil }
func fillDisk(string) error    { return errNoDisk }
func emptyDisk(string) error   { return nil }
