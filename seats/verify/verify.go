// Package verify is the auditor: it holds the promises of package seats, of credit and of payments against what the database says.
//
// A look is one read-only transaction that sees one snapshot, so that it may be taken while the sale runs: it delays
// no writer and is never misled by a claim under way. It shares no code with the writer. It reads seats, holds with their answers,
// counter and change log of an event, replays the log, and compares everything with everything.
package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seal"
)

// DB is where a transaction with settings of its own can begin: a pool or a connection.
type DB interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// Look holds the promises against one event, or against every event if slug is empty. A report is complete: whatever
// could not be read is an error, and then there is no report. seats.ErrNoEvent if there is no such event.
func Look(ctx context.Context, db DB, slug string) (*Report, error) {
	return LookSealed(ctx, db, slug, nil)
}

// LookSealed is like Look for a database with secrets that are sealed. Without their key there is no report once a person
// was erased, or an event has a public log.
func LookSealed(ctx context.Context, db DB, slug string, box *seal.Box) (*Report, error) {
	l := look{slug: slug, box: box}
	r, err := l.run(ctx, db)
	if err == nil && slug != "" && r.Events == 0 {
		return nil, seats.ErrNoEvent
	}
	return r, err
}

// look is one look under way.
type look struct {
	slug string                                   // of the only event to look at; empty for all
	box  *seal.Box                                // opens the key of erasures and the secrets of public logs; may be nil
	maps map[int64]seats.Snapshot                 // by event: what a node shows, read before the look began
	skip func(event, version int64) bool          // may be nil
	done func(event, version int64, findings int) // may be nil
}

var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

func (l *look) run(ctx context.Context, db DB) (*Report, error) {
	r := newReport(l.slug)
	err := pgx.BeginTxFunc(ctx, db, snapshot, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, database.PlanManySQL); err != nil {
			return err
		}
		list, err := readBooks(ctx, tx, l.slug, r)
		if err != nil {
			return fmt.Errorf("events: %w", err)
		}
		for _, b := range list {
			if err := l.at(ctx, tx, b); err != nil {
				return fmt.Errorf("event %s: %w", b.slug, err)
			}
		}
		if l.slug != "" {
			return nil
		}
		if r.Events == len(list) {
			if err := checkOrphans(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := l.checkCredit(ctx, tx, r); err != nil {
			return err
		}
		if err := l.checkMoney(ctx, tx, r); err != nil {
			return err
		}
		if err := l.checkAccounts(ctx, tx, r); err != nil {
			return err
		}
		if err := l.checkInvoices(ctx, tx, r); err != nil {
			return err
		}
		if err := checkGiftCards(ctx, tx, r); err != nil {
			return err
		}
		if err := checkSubscriptions(ctx, tx, r); err != nil {
			return err
		}
		if err := checkPictures(ctx, tx, r); err != nil {
			return err
		}
		if err := checkTills(ctx, tx, r); err != nil {
			return err
		}
		if err := checkPayouts(ctx, tx, r); err != nil {
			return err
		}
		if err := checkDeposits(ctx, tx, r); err != nil {
			return err
		}
		if err := checkTestSales(ctx, tx, r); err != nil {
			return err
		}
		return l.checkErased(ctx, tx, r)
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return r, nil
}

// at looks at one event.
func (l *look) at(ctx context.Context, tx pgx.Tx, b *books) error {
	if l.skip != nil && l.skip(b.id, b.version) {
		return nil
	}
	if m, ok := l.maps[b.id]; ok {
		b.shown = &m
	}
	b.box = l.box
	if err := b.check(ctx, tx); err != nil {
		return err
	}
	if l.done != nil {
		l.done(b.id, b.version, b.findings)
	}
	return nil
}

// Holds and changes have no foreign key to their event: it would cost as much as the row.
const orphansSQL = `
SELECT 'hold', event_id, count(*) FROM hold WHERE NOT EXISTS (SELECT FROM event WHERE id = event_id) GROUP BY event_id
 UNION ALL
SELECT 'change', event_id, count(*) FROM change WHERE NOT EXISTS (SELECT FROM event WHERE id = event_id) GROUP BY event_id`

// checkOrphans notes rows of events that are not there.
func checkOrphans(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, orphansSQL)
	if err != nil {
		return err
	}
	var table string
	var event, n int64
	_, err = pgx.ForEachRow(rows, []any{&table, &event, &n}, func() error {
		b := books{report: r, slug: fmt.Sprint("number ", event)}
		b.broken(p6, none, "it is not there, and has %d rows in table %s", n, table)
		return nil
	})
	return err
}
