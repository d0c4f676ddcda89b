package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// waysOut is what a person may do when there is no PostgreSQL on the machine.
const waysOut = `there is no PostgreSQL on this machine. Three ways out:
  Debian, Ubuntu:  apt-get install -y postgresql
  macOS:           brew install postgresql@17
  anywhere:        DATABASE_URL=postgres://… usher serve   (version 15 or newer)`

// findBinaries returns the folder with initdb and postgres: the one that a data directory was made with, or the newest.
func findBinaries(dataDir string) (string, error) {
	want := ""
	if version, err := os.ReadFile(filepath.Join(dataDir, "PG_VERSION")); err == nil {
		want = strings.TrimSpace(string(version))
	}
	var folders []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		folders = append(folders, found...)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil { // initdb stands beside the program, not beside a link to it
			path = real
		}
		folders = append(folders, filepath.Dir(path))
	}
	best, newest := "", 14
	for _, folder := range folders {
		version, err := majorVersion(folder)
		if err != nil || version <= newest || want != "" && strconv.Itoa(version) != want {
			continue
		}
		best, newest = folder, version
	}
	if best != "" {
		return best, nil
	}
	if want != "" {
		return "", fmt.Errorf("the data in %s was made by PostgreSQL %s, which is not on this machine: install that version, or start with another folder (USHER_DATA)", dataDir, want)
	}
	return "", fmt.Errorf("%s", waysOut)
}

// majorVersion asks the server program in a folder for its version.
func majorVersion(folder string) (int, error) {
	if _, err := os.Stat(filepath.Join(folder, "initdb")); err != nil {
		return 0, err // a client only
	}
	out, err := exec.Command(filepath.Join(folder, "postgres"), "--version").Output()
	if err != nil {
		return 0, err
	}
	words := strings.Fields(string(out)) // postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
	if len(words) < 3 {
		return 0, fmt.Errorf("unexpected version %q", out)
	}
	major, _, _ := strings.Cut(words[2], ".")
	return strconv.Atoi(major)
}

// Program finds a program of PostgreSQL, such as pg_dump: that of a private server's version, or the newest there is, which
// talks to all older servers.
func Program(name string, p *Server) (string, error) {
	folder := ""
	if p != nil {
		folder = p.dir
	}
	binaries, err := findBinaries(folder)
	if err != nil {
		return "", err
	}
	path := filepath.Join(binaries, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s does not come with this PostgreSQL: %w", name, err)
	}
	return path, nil
}
