package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/rehearsal"
)

// inherited is what the program of a rehearsal gets of our environment. It gets no address of a mail server, no key of a card provider and
// no key that opens secrets of the database.
var inherited = []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "GOCOVERDIR"}

// ofPostgres begins the names of what clients of PostgreSQL read.
const ofPostgres = "PG"

// rehearsalOf makes the program that rehearses a sale of the box office in a database: this one, as another process.
func rehearsalOf(cfg *DatabaseSettings, db *database) rehearsal.Command {
	return func(ctx context.Context, args ...string) *exec.Cmd {
		self, err := os.Executable()
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Err = err
		cmd.Env = []string{"DATABASE_URL=" + db.dsn, "USHER_DATABASE_PLAINTEXT=" + strconv.FormatBool(cfg.DatabasePlain)}
		for _, variable := range os.Environ() {
			if name, _, _ := strings.Cut(variable, "="); slices.Contains(inherited, name) || strings.HasPrefix(name, ofPostgres) {
				cmd.Env = append(cmd.Env, variable)
			}
		}
		endsWithUs(cmd)
		return cmd
	}
}
