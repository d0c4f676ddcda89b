package testsale

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// Sales are the test sales of a database. Any number of nodes may have them.
type Sales struct {
	db     *pgxpool.Pool
	office *seats.Inventory
	desk   *organizers.Desk
	ending *jobs.Job

	// Erase erases what people typed in a test sale that is over, and reports whether nothing is left.
	Erase func(ctx context.Context, event, team int64) (all bool, err error)
}

// New returns the test sales of a database.
func New(db *pgxpool.Pool, office *seats.Inventory, desk *organizers.Desk) *Sales {
	t := &Sales{db: db, office: office, desk: desk}
	t.ending = jobs.New("test sales", dueSQL, t.end)
	return t
}

// Job returns the job that ends test sales.
func (t *Sales) Job() *jobs.Job { return t.ending }

// errBegun refuses a test sale of an event that sells, or of a test sale.
var errBegun = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The sale of this event has started. Nothing was changed. A test sale is for a draft, or for an event whose sale starts later.")}

// lockSQL keeps the event as it is while its test sale is made.
const lockSQL = `SELECT status = 'draft' OR status = 'on sale' AND coalesce(opens_at > clock_timestamp(), false) FROM event WHERE id = $1 AND test_of IS NULL FOR NO KEY UPDATE`

// Start makes a test sale of an event of the member's team that does not sell yet, and returns its slug: a link that no list has. It
// has the prices without phases and codes. If there is one, that one is returned.
//
// Errors: a *seats.Conflict if the sale has started, or if the form comes once more after its test sale ended; those of
// organizers.Desk.WithAudit; the database's.
func (t *Sales) Start(ctx context.Context, m organizers.Member, s *seats.Sale, key string) (slug string, err error) {
	if s.Event.TestOf != 0 {
		return "", errBegun
	}
	act := organizers.Action{Key: key, Form: []any{"test sale", s.Event.Slug}, What: text.Mark("started a test sale of the event"), Subject: "events/" + s.Event.Slug}
	err = t.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		return pgx.BeginFunc(ctx, t.db, func(tx pgx.Tx) error { return t.start(ctx, tx, s, also) })
	})
	if err != nil && !seats.IsConstraint(err, "an event has one test sale at a time") {
		return "", err
	}
	if slug, err = t.Of(ctx, s.Event.ID); err == nil && slug == "" {
		err = events.ErrTestOver
	}
	return slug, err
}

func (t *Sales) start(ctx context.Context, tx pgx.Tx, s *seats.Sale, also seats.TxHook) error {
	var may bool
	if err := tx.QueryRow(ctx, lockSQL, s.Event.ID).Scan(&may); err != nil {
		return fmt.Errorf("testsale: lock event %d: %w", s.Event.ID, err)
	}
	if !may {
		return errBegun
	}
	n := events.Of(s.Event)
	n.TestOf, n.Name, n.Status = s.Event.ID, mark(s.Event.Name), seats.OnSale
	n.Slug = s.Event.Slug + seats.TestSlug + strings.ToLower(seats.NewID().String()[:8])
	n.Demo, n.PaidAhead, n.Invoices = true, true, false
	n.Online.Link = "" // it lets people in
	n.Prices, n.Rules = s.Prices.WithoutPhases(), &s.Event.Rules
	e, err := events.Create(ctx, tx, n, s.Plan)
	if err != nil {
		return err
	}
	if err := pages.ReplaceEvent(ctx, tx, s.Event.ID, e.ID); err != nil {
		return err
	}
	if err := limit.Copy(ctx, tx, s.Event.ID, e.ID); err != nil {
		return err
	}
	return also.Run(ctx, tx)
}

// mostName is how many characters of a name stand behind the mark.
const mostName = 180

func mark(name string) string {
	if letters := []rune(name); len(letters) > mostName {
		name = string(letters[:mostName])
	}
	return seats.TestMark + name
}

const ofSQL = `SELECT slug FROM event WHERE test_of = $1 AND status NOT IN ('closed', 'cancelled')`

// Of returns the slug of the test sale of an event; empty if none runs.
func (t *Sales) Of(ctx context.Context, event int64) (slug string, err error) {
	err = t.db.QueryRow(ctx, ofSQL, event).Scan(&slug)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("testsale: find that of event %d: %w", event, err)
	}
	return slug, nil
}

// End ends the test sale of an event of the member's team, if one runs.
//
// Errors: those of organizers.Desk.WithAudit; the database's.
func (t *Sales) End(ctx context.Context, m organizers.Member, s *seats.Sale, key string) error {
	slug, err := t.Of(ctx, s.Event.ID)
	if err != nil || slug == "" {
		return err
	}
	act := organizers.Action{Key: key, Form: []any{"test sale ends", s.Event.Slug, slug}, What: text.Mark("ended the test sale of the event"), Subject: "events/" + s.Event.Slug}
	err = t.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error { return t.close(ctx, slug, also) })
	t.ending.Wake()
	return err
}

func (t *Sales) close(ctx context.Context, slug string, also seats.TxHook) error {
	_, err := events.SetStatus(ctx, t.office, slug, events.Change{Status: seats.Closed}, also)
	return err
}
