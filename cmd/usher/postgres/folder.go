package postgres

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
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
		return fmt.Errorf("%s belongs to somebody else: remove it, or choose another folder (USHER_DATA)", dir)
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

// user is whom the server runs as. PostgreSQL refuses to run as root, so root gives the server to somebody else.
type user struct {
	other    bool // somebody else than this process
	uid, gid uint32
}

// nobody is the uid that owns nothing, on every Unix.
const nobody = 65534

// serverUser is this process's user, or when that is root: the owner of the data folder, else postgres, else nobody.
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
		return &user{true, nobody, nobody}, nil
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
