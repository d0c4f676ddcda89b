package waitlist

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Overview is the list of an event, for its organizer.
type Overview struct {
	Paused  bool
	Note    string
	Kept    int // seats that came back and are kept for those who wait
	Waiting int // people who wait
	Figures Figures
	Entries []Placed
}

// Placed is an entry and where it stands. It does not say the entry's code, which is its person's.
type Placed struct {
	Entry
	Place int // how many wait before it, and it; 0 if it does not wait
}

const overviewSQL = `
SELECT coalesce(w.paused_at IS NOT NULL, false), coalesce(w.note, ''),
       (SELECT count(*) FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'accepted'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state IN ('accepted', 'declined', 'missed'))
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.slug = $1`

// By rank: those who are offered something or wait, then the unverified. Of one address also those that ended, the latest
// first.
const entriesSQL = `SELECT ` + entryColumns + `, CASE n.state WHEN 'waiting' THEN (
       SELECT count(*) FROM entry b WHERE b.event_id = n.event_id AND b.state = 'waiting' AND (b.rank, b.id) <= (n.rank, n.id)) ELSE 0 END` + entryTables + `
 WHERE e.slug = $1 AND CASE $2::text WHEN '' THEN n.state IN ('new', 'waiting', 'offered') ELSE n.email = $2 END
 ORDER BY CASE n.state WHEN 'offered' THEN 0 WHEN 'waiting' THEN 1 WHEN 'new' THEN 2 ELSE 3 END, CASE WHEN n.state IN ('new', 'waiting', 'offered') THEN n.rank END, n.id DESC
 LIMIT $3`

// Show returns the list of an event with the first of its entries, at most limit, or with all of one address if email is
// not empty. seats.ErrNoEvent if there is no such event.
func (c Control) Show(ctx context.Context, slug, email string, limit int) (o Overview, err error) {
	l := c.List
	s, err := l.office.Sale(ctx, slug)
	if err != nil {
		return o, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return o, err
	}
	o.Kept = len(s.Kept())
	err = l.db.QueryRow(ctx, overviewSQL, slug).Scan(&o.Paused, &o.Note, &o.Waiting, &o.Figures.Open, &o.Figures.Accepted, &o.Figures.Ended)
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	rows, err := l.db.Query(ctx, entriesSQL, slug, tidyEmail(email), limit)
	if err == nil {
		o.Entries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Placed, err error) {
			p.Entry, err = scanEntry(row, &p.Place)
			p.Code = ""
			return p, err
		})
	}
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	return o, nil
}

// Step is something that happened to an entry or a list.
type Step struct {
	At     time.Time
	Email  string // of one entry; empty: the whole list
	What   string
	Detail string
	Who    string // an organizer; empty: the person, or the list itself
}

const stepsSQL = `
SELECT p.at, coalesce(n.email, ''), p.what, p.detail, p.who
  FROM wait_step p JOIN event e ON e.id = p.event_id LEFT JOIN entry n ON n.id = p.entry_id
 WHERE e.slug = $1 AND ($2 = '' OR n.email = $2)
 ORDER BY p.id DESC
 LIMIT $3`

// Steps lists what happened to the list of an event, or to the entries of one address, the latest first.
func (c Control) Steps(ctx context.Context, slug, email string, limit int) ([]Step, error) {
	rows, err := c.List.db.Query(ctx, stepsSQL, slug, tidyEmail(email), limit)
	if err != nil {
		return nil, fmt.Errorf("waitlist: what happened: %w", err)
	}
	steps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Step])
	if err != nil {
		return nil, fmt.Errorf("waitlist: what happened: %w", err)
	}
	return steps, nil
}
