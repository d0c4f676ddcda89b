package seatstest

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// lockName is the file of a folder that its test process keeps locked.
const lockName = "test.lock"

// oldest is the age at which a folder without a lock counts as left behind.
const oldest = 24 * time.Hour

// madePrefix begins the names of what Furnish copies.
const madePrefix = "usher-schema-"

// locks are the locks of this process's folders. They end with the process, however that ends.
var locks struct {
	sync.Mutex
	files []*os.File
}

// Folder makes a folder for temporary files that a PostgreSQL of another user may enter. It first removes those of test
// processes that were killed.
func Folder() (dir string, err error) {
	sweep(os.TempDir())
	if dir, err = os.MkdirTemp("", "usher-test-"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the server's user must be able to walk in
		return "", err
	}
	// The file has its name once it is locked, so that no sweep finds it unlocked before.
	unnamed := filepath.Join(dir, lockName+".new")
	lock, err := os.Create(unnamed)
	if err != nil {
		return "", err
	}
	locks.Lock()
	locks.files = append(locks.files, lock)
	locks.Unlock()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	return dir, os.Rename(unnamed, filepath.Join(dir, lockName))
}

// sweep removes the folders of processes that are gone, and the data of schemas of earlier days. What it fails to remove stays for the next one.
func sweep(in string) {
	made, _ := filepath.Glob(filepath.Join(in, madePrefix+"*")) // the pattern is well formed
	for _, path := range made {
		if info, err := os.Stat(path); err == nil && info.IsDir() && time.Since(info.ModTime()) > oldest { // a lock stays: others may wait for it
			_ = os.RemoveAll(path)
		}
	}
	dirs, _ := filepath.Glob(filepath.Join(in, "usher-test-*")) // the pattern is well formed
	for _, dir := range dirs {
		lock, err := os.Open(filepath.Join(dir, lockName))
		if err != nil {
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > oldest {
				_ = os.RemoveAll(dir)
			}
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}
