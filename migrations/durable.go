package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CheckDurable refuses a database that would lose what it acknowledged.
func CheckDurable(ctx context.Context, conn *pgx.Conn) error {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
			return fmt.Errorf("migrations: read %s: %w", setting, err)
		}
		if value == "off" {
			return fmt.Errorf("migrations: this PostgreSQL runs with %s=off and may lose what it confirmed: set %s=on", setting, setting)
		}
	}
	return nil
}
