package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A house is a box office in a schema of its own. Several may share a database.

var isHouse = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// ErrHouse is the answer to a name that a house cannot have.
var ErrHouse = errors.New("a house has a name of up to 40 letters a to z, digits and _, which begins with a letter; names that begin with pg_, usher_plan and information_schema are taken")

// InHouse returns the address of a database for connections that see the schema of a house, and no other. No house is the schema of
// the role. Errors: ErrHouse; an address that cannot be read, or has a search_path.
func InHouse(dsn, house string) (string, error) {
	if house == "" {
		return dsn, nil
	}
	if !isHouse.MatchString(house) || strings.HasPrefix(house, "pg_") || house == "usher_plan" || house == "information_schema" {
		return "", ErrHouse
	}
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("database: this is not an address of a PostgreSQL: %w", err)
	}
	if cfg.ConnConfig.RuntimeParams["search_path"] != "" {
		return "", errors.New("database: the address has a search_path; name the house, or set the path, and not both")
	}
	options := strings.TrimSpace(cfg.ConnConfig.RuntimeParams["options"] + " -csearch_path=" + house) // programs of PostgreSQL read it as well
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " options='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(options) + "'", nil
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("database: the address cannot be read") // the error has the address in it
	}
	query := u.Query()
	query.Set("options", options)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a plus is no space there
	return u.String(), nil
}

const channelSQL = `SELECT house_channel($1)`

// Listen has a connection listen on channels of its house.
func Listen(ctx context.Context, conn *pgx.Conn, channels ...string) error {
	for _, channel := range channels {
		var name string
		if err := conn.QueryRow(ctx, channelSQL, channel).Scan(&name); err != nil {
			return fmt.Errorf("database: ask for the name of channel %s: %w", channel, err)
		}
		if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{name}.Sanitize()); err != nil {
			return fmt.Errorf("database: listen on %s: %w", name, err)
		}
	}
	return nil
}

// Channel returns the channel of a notification as Listen was told it, without the house.
func Channel(name string) string {
	channel, _, _ := strings.Cut(name, "@")
	return channel
}

const whichSQL = `
SELECT system_identifier::text || '/' || current_database() || CASE current_schema() WHEN 'public' THEN '' ELSE '/' || coalesce(current_schema(), '') END
  FROM pg_control_system()`

// asks is a pool or a connection.
type asks interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Which names the box office that connections lead to, by its server, database and schema.
func Which(ctx context.Context, db asks) (name string, err error) {
	if err := db.QueryRow(ctx, whichSQL).Scan(&name); err != nil {
		return "", fmt.Errorf("database: ask which database it is: %w", err)
	}
	return name, nil
}
