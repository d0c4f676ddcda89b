// Package planted builds the program with bugs that the real one does not have, so that a judge can be shown to notice each,
// and with points at which it may be killed. They stand in planted.patch, which is laid over the source for the build: the
// bug of a process is named by USHER_MUTANT, the point at which it dies by USHER_CRASH_AT.
package planted

import (
	"bytes"
	"context"
	_ "embed" // the patch
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

//go:embed planted.patch
var patch []byte

var point = regexp.MustCompile(`(?m)^\+\tPoint\w+ +Point = "(\w+)"`)

// Points lists the points at which a program may be killed.
func Points() (list []string) {
	for _, found := range point.FindAllSubmatch(patch, -1) {
		list = append(list, string(found[1]))
	}
	return list
}

// Build builds the program from the source in the folder root, patched, as the file out. Two builds of one source wait for each other: the second
// finds compiled what the first one compiled.
func Build(ctx context.Context, root, out string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	source, err := os.Open(filepath.Join(root, "tools", "planted", "planted.patch"))
	if err != nil {
		return err
	}
	defer source.Close() // and end the lock
	if err := syscall.Flock(int(source.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "usher-planted-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for line := range strings.Lines(string(patch)) {
		name, is := strings.CutPrefix(strings.TrimSpace(line), "diff --git a/")
		if !is {
			continue
		}
		name, _, _ = strings.Cut(name, " b/")
		overlay.Replace[filepath.Join(root, name)] = filepath.Join(dir, name)
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := run(ctx, dir, bytes.NewReader(patch), "git", "apply", "--unsafe-paths", "-"); err != nil {
		return fmt.Errorf("planted.patch does not fit the source any more: %w", err)
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return err
	}
	return run(ctx, root, nil, "go", "build", "-overlay", file, "-o", out, "./cmd/usher")
}

// copyFile copies a file, and makes its folder; one that the patch adds is not there yet.
func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

func run(ctx context.Context, dir string, in *bytes.Reader, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if in != nil {
		cmd.Stdin = in
	}
	// The copy is no repository, and in none. A compiler that frees no memory takes a fifth less time.
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GOGC=off", "GOMEMLIMIT=3GiB")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, args[0], err, out)
	}
	return nil
}
