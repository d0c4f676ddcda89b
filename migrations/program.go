package migrations

import (
	"fmt"
	"os"
	"path/filepath"
)

// Program finds a program of PostgreSQL, such as pg_dump: that of a private server's version, or the newest there is, which
// talks to all older servers.
func Program(name string, p *Private) (string, error) {
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
