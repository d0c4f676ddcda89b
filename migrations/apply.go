package migrations

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// lockWithin is how long a migration waits for a table. Statements after it wait behind it, so that this is also
	// how long a claim may stand still because a reader keeps for minutes a table that a migration changes. It is less than the
	// second after which PostgreSQL looks for deadlocks: of a claim and a migration that wait for each other the migration
	// gives way.
	lockWithin = 500 * time.Millisecond
	// giveUpAfter is how long a migration goes on trying.
	giveUpAfter = 2 * time.Minute

	lockNotAvailable = "55P03"
	deadlockDetected = "40P01"
)

// busySQL takes the tables that claims use, in the order in which claims take them. A migration that had to give way because it
// wanted several of them in another order does so with the next try.
const busySQL = `
DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY '{event,hold,seat_state,counter,change}'::text[] LOOP
        IF to_regclass(name) IS NOT NULL THEN EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name); END IF;
    END LOOP;
END $$`

// apply runs one migration in a transaction of its own. It takes its locks within lockWithin or lets everybody pass and tries again.
func apply(ctx context.Context, conn *pgx.Conn, number int, name string) error {
	sql, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	if err := step(ctx, conn, number, name, string(sql), giveUpAfter); err != nil {
		return fmt.Errorf("migrations: apply %s: %w", name, err)
	}
	return nil
}

func step(ctx context.Context, conn *pgx.Conn, number int, name, sql string, giveUp time.Duration) error {
	return patiently(ctx, conn, giveUp, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO migration (number, name, hash) VALUES ($1, $2, $3)`, number, name, hash(sql))
		return err
	})
}

// patiently runs do in a transaction that waits at most lockWithin for each lock. Where that is not enough it lets others
// pass and tries again.
func patiently(ctx context.Context, conn *pgx.Conn, giveUp time.Duration, do func(pgx.Tx) error) error {
	began, first := time.Now(), ""
	for {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = %d; %s`, lockWithin.Milliseconds(), first)); err != nil {
				return err
			}
			return do(tx)
		})
		busy, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || busy.Code != lockNotAvailable && busy.Code != deadlockDetected {
			return err
		}
		if time.Since(began) > giveUp {
			return fmt.Errorf("it was busy for %s: %w", giveUp, err)
		}
		first = busySQL
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockWithin/2 + rand.N(lockWithin/2)): // those who stood behind pass
		}
	}
}
