package migrations

import (
	"fmt"
	"os"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

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
		return &user{}, nil
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

// makeFolder makes a folder only the server's user may enter, and names the folder on the way that keeps it out.
func (u *user) makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if !u.other {
		return nil
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		info, err := os.Stat(up)
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		if info.Mode().Perm()&0o001 == 0 && owner.Uid != u.uid {
			return fmt.Errorf("PostgreSQL does not run as root, and its user may not enter %s: choose another folder (USHER_DATA=/var/lib/usher), or chmod o+x %s", up, up)
		}
		if up == "/" {
			break
		}
	}
	return os.Chown(dir, int(u.uid), int(u.gid))
}
