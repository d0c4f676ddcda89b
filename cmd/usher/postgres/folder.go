package postgres

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// systemFolder takes the data when the server's user may not enter the folder it was meant for.
const systemFolder = "/var/lib/usher"

// makeOpen makes the folder around the data, which the server's user must be able to walk through whatever the umask is.
func makeOpen(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// dataFolder is where in dir the server keeps its data. Root's own folders are closed to the user the server runs as; data
// for one of them goes to a system folder, and a link in dir leads there at this and every later start.
func dataFolder(dir string, log *slog.Logger) (string, error) {
	data := filepath.Join(dir, "postgres")
	if target, err := os.Readlink(data); err == nil {
		return target, nil
	}
	if _, err := os.Lstat(data); !errors.Is(err, os.ErrNotExist) {
		return data, err
	}
	who, err := serverUser(data)
	if err != nil {
		return "", err
	}
	closed, err := who.keptOut(data)
	if err != nil || closed == "" {
		return data, err
	}
	target := filepath.Join(systemFolder, shortName(dir))
	log.Info("PostgreSQL does not run as root, and its user may not enter a folder on the way to the data",
		"closed", closed, "data", target)
	if err := makeOpen(systemFolder); err != nil {
		return "", fmt.Errorf("the server's user may not enter %s: choose another folder (USHER_DATA): %w", closed, err)
	}
	return target, os.Symlink(target, data)
}

// socketLimit is the longest path of a Unix socket's folder.
const socketLimit = 107 - len("/.s.PGSQL.5432")

// socketFolder is the data folder itself, unless its path is too long for a socket, or has the comma that would make it
// two servers.
func socketFolder(data string) string {
	if len(data) <= socketLimit && !strings.Contains(data, ",") {
		return data
	}
	return "/tmp/" + shortName(data) // not TMPDIR: another usher on the same data must find it
}

func shortName(path string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // a hash never fails
	return fmt.Sprintf("usher-%x", h.Sum64())
}

// makeFolder makes a folder that only the server's user may enter. One that is there must be that user's already: in
// /tmp anybody might have made it.
func (u *user) makeFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.IsDir() || owner != u.uid && (owner != 0 || !u.other) {
		return fmt.Errorf("%s belongs to another user: remove it, or choose another folder (USHER_DATA)", dir)
	}
	if u.other {
		if err := os.Lchown(dir, int(u.uid), int(u.gid)); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o700)
}

// keptOut names the folder on the way to dir that the server's user may not enter; empty if there is none.
func (u *user) keptOut(dir string) (string, error) {
	if !u.other {
		return "", nil
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		info, err := os.Stat(up)
		if err != nil {
			return "", err
		}
		owner, mode := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
		may := mode & 0o001
		switch {
		case owner.Uid == u.uid:
			may = mode & 0o100
		case owner.Gid == u.gid:
			may = mode & 0o010
		}
		if may == 0 {
			return up, nil
		}
		if up == "/" {
			return "", nil
		}
	}
}

// reach says which folder keeps the server's user from its data or its programs.
func (u *user) reach(dirs ...string) error {
	for _, dir := range dirs {
		closed, err := u.keptOut(filepath.Join(dir, "inside"))
		if err != nil {
			return err
		}
		if closed != "" {
			return fmt.Errorf("PostgreSQL does not run as root, and its user may not enter %s on the way to %s: chmod o+x %s, or choose another folder (USHER_DATA=%s)",
				closed, dir, closed, systemFolder)
		}
	}
	return nil
}

// user is the Unix user of the server. PostgreSQL refuses to run as root, so root runs it as another user.
type user struct {
	other    bool // not that of this process
	uid, gid uint32
}

// noUser is the uid of the user "nobody", which owns nothing on every Unix.
const noUser = 65534

// serverUser is this process's user, or when that is root: the owner of the data folder, else postgres, else noUser.
func serverUser(dir string) (*user, error) {
	if os.Getuid() != 0 {
		return &user{false, uint32(os.Getuid()), uint32(os.Getgid())}, nil
	}
	if info, err := os.Stat(dir); err == nil {
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 {
			return &user{true, owner.Uid, owner.Gid}, nil
		}
	}
	found, err := osuser.Lookup("postgres")
	if err != nil {
		return &user{true, noUser, noUser}, nil
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &user{true, uint32(uid), uint32(gid)}, nil
}

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
