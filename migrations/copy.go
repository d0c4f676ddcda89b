package migrations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
)

// StartPrivateIn is StartPrivate with more in the environment of the server, as "NAME=value".
func StartPrivateIn(ctx context.Context, env []string, dir string, log *slog.Logger, settings ...string) (*Private, error) {
	p, err := newPrivate(dir, log, settings)
	if err != nil {
		return nil, fmt.Errorf("migrations: private PostgreSQL: %w", err)
	}
	p.env = env
	return p.begin(ctx)
}

// Copy makes the data of a standby of this server in a folder, which StartPrivate then starts. It follows this server until
// it is promoted.
func (p *Private) Copy(ctx context.Context, dir string) error {
	if err := makeOpen(dir); err != nil {
		return err
	}
	data := filepath.Join(dir, "postgres")
	who, err := serverUser(p.dir)
	if err != nil {
		return err
	}
	if err := who.makeFolder(data); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.binaries, "pg_basebackup"), "-D", data, "-h", p.socket, "-p", "5432", "-U", "postgres",
		"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	cmd.Dir = data
	who.become(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("migrations: copy the server: %w\n%s", err, out)
	}
	// The lock of the socket beside the data is that of the server, not of its copy.
	if err := os.Remove(filepath.Join(data, ".s.PGSQL.5432.lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("migrations: copy the server: %w", err)
	}
	return nil
}
