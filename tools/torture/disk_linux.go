package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// diskSize is how much the disk of a torture takes: ten minutes of a crowd, twice while there is a standby. It is in memory,
// of which it uses what is written.
const diskSize = 8 << 30

// mountDisk gives a folder a disk of its own, which can be filled. Only root may.
func mountDisk(dir string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", diskSize))
}

func unmountDisk(dir string) error {
	for range 50 {
		if err := syscall.Unmount(dir, 0); !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(100 * time.Millisecond) // a process of the server is ending
	}
	return syscall.Unmount(dir, syscall.MNT_DETACH)
}

// fillDisk makes a disk no larger than what is on it, so that nothing more can be written.
func fillDisk(dir string) error {
	for range 100 {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			return err
		}
		used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
		if err := resizeDisk(dir, used); !errors.Is(err, syscall.EINVAL) { // else more was written meanwhile
			return err
		}
	}
	return errors.New("torture: the disk grows too fast to be filled")
}

func emptyDisk(dir string) error { return resizeDisk(dir, diskSize) }

func resizeDisk(dir string, size uint64) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size))
}
