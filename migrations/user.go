package migrations

import (
	"os"
	osuser "os/user"
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
