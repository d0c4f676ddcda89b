package memberships

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Membership is one in a list.
type Membership struct {
	ID       seats.ID
	Kind     int64
	Title    string // the name of the kind
	Name     string
	Email    string
	Card     string
	From     time.Time // the first day
	Until    time.Time // the last day
	Currency string
	Price    int64 // when it was given
	GivenAt  time.Time
	GivenBy  string
	EndedAt  *time.Time // before its last day; nil: it was not
	State    State
	Customer seats.ID `db:"-"` // an order of the person, or an imported customer; zero: there is none
}

// State says how a membership stands today.
type State string

// The states of a membership.
const (
	Valid State = "valid"
	Soon  State = "soon" // valid, and over in SoonDays
	Early State = "early"
	Over  State = "over" // its last day is gone
	Ended State = "ended"
)

// SoonDays is for how many days, from today on, a membership that ends in them ends soon.
const SoonDays = 30

// Filter is which memberships are listed.
type Filter struct {
	Kind  int64  // 0: of every kind
	Show  Show   // "": those that are not over
	Words string // the beginning of a name, of a part of it or of an email, or the number of a card; empty: all
}

// Show is which memberships are listed, by how they stand.
type Show string

// What is listed besides those that are not over.
const (
	ShowSoon Show = "soon"
	ShowOver Show = "over"
	ShowAll  Show = "all"
)

// Known reports whether memberships are listed this way.
func (s Show) Known() bool { return s == "" || s == ShowSoon || s == ShowOver || s == ShowAll }

// Rows is how many memberships a page of the list usually has.
const Rows = 100

const columns = `
SELECT m.id, m.kind_id, k.name, m.name, m.email, m.card, m.from_on, m.until_on, m.currency, m.price, m.given_at, m.given_by, m.ended_at,
       CASE WHEN m.ended_at IS NOT NULL THEN 'ended' WHEN m.until_on < d.today THEN 'over' WHEN m.from_on > d.today THEN 'early'
            WHEN m.until_on < d.today + 30 THEN 'soon' ELSE 'valid' END
  FROM membership m JOIN membership_kind k ON k.id = m.kind_id, (SELECT ` + today + ` AS today) d
 WHERE m.team_id = $1 AND m.email <> ''`

const listSQL = columns + `
   AND (m.until_on, m.id) > (coalesce($2::timestamptz AT TIME ZONE 'UTC', '-infinity')::date, $3)
   AND ($4 = 0 OR m.kind_id = $4)
   AND ($5 = '' OR starts_with(m.email, lower($5)) OR m.card = $5 OR position(' ' || fold($5) IN ' ' || fold(m.name)) > 0)
   AND CASE $6 WHEN 'all' THEN true WHEN 'over' THEN m.ended_at IS NOT NULL OR m.until_on < d.today
               WHEN 'soon' THEN m.ended_at IS NULL AND d.today BETWEEN m.from_on AND m.until_on AND m.until_on < d.today + 30
               ELSE m.ended_at IS NULL AND m.until_on >= d.today END
 ORDER BY m.until_on, m.id LIMIT $7`

// List returns memberships of a member's team, those that end first before others, and where the list goes on; nil if there are no more.
func (s *Memberships) List(ctx context.Context, m organizers.Member, f Filter, p paging.Page) (list []Membership, next *paging.Place, err error) {
	if list, err = s.read(ctx, m, listSQL, m.Team, p.After.Time(), p.After.ID, f.Kind, strings.Join(strings.Fields(f.Words), " "), string(f.Show), p.Limit+1); err != nil {
		return nil, nil, fmt.Errorf("memberships: list: %w", err)
	}
	list, next = paging.Cut(list, p, func(o Membership) paging.Place { return paging.Place{At: o.Until, ID: o.ID} })
	return list, next, nil
}

// Each visits all memberships of a member's team that List would list.
func (s *Memberships) Each(ctx context.Context, m organizers.Member, f Filter, visit func(Membership) error) error {
	for next := (&paging.Place{}); next != nil; {
		var list []Membership
		var err error
		if list, next, err = s.List(ctx, m, f, paging.Page{After: *next, Limit: paging.Most}); err != nil {
			return err
		}
		for _, one := range list {
			if err := visit(one); err != nil {
				return err
			}
		}
	}
	return nil
}

const ofSQL = columns + ` AND m.email = ANY($2) ORDER BY m.until_on DESC, m.id LIMIT 100`

// Of returns the memberships of addresses, in lower case, in a member's team, the last one first: 100 at most.
func (s *Memberships) Of(ctx context.Context, m organizers.Member, emails []string) ([]Membership, error) {
	list, err := s.read(ctx, m, ofSQL, m.Team, emails)
	if err != nil {
		return nil, fmt.Errorf("memberships: list those of a person: %w", err)
	}
	return list, nil
}

func (s *Memberships) read(ctx context.Context, m organizers.Member, sql string, args ...any) (list []Membership, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Membership])
		}
		return err
	})
	if err == nil && len(list) > 0 {
		err = s.findCustomers(ctx, m, list)
	}
	return list, err
}

// Behind the wall of the desk no index finds an email: lower could tell of rows of others.
const customersSQL = `
SELECT p.email, coalesce((SELECT id FROM orders WHERE lower(email) = p.email AND email <> '' AND (SELECT team_id FROM event WHERE id = event_id AND test_of IS NULL) = $1 ORDER BY created_at, id LIMIT 1), c.id)
  FROM unnest($2::text[]) p(email) LEFT JOIN customer c ON c.team_id = $1 AND c.email = p.email
 WHERE c.id IS NOT NULL OR EXISTS (SELECT FROM orders WHERE lower(email) = p.email AND email <> '' AND (SELECT team_id FROM event WHERE id = event_id AND test_of IS NULL) = $1)`

// findCustomers notes the first order of each person in the team, or the imported customer.
func (s *Memberships) findCustomers(ctx context.Context, m organizers.Member, list []Membership) error {
	var emails []string
	for _, o := range list {
		emails = append(emails, o.Email)
	}
	rows, err := s.db.Query(ctx, customersSQL, m.Team, emails)
	if err != nil {
		return err
	}
	orders, email, id := map[string]seats.ID{}, "", seats.ID{}
	if _, err := pgx.ForEachRow(rows, []any{&email, &id}, func() error { orders[email] = id; return nil }); err != nil {
		return err
	}
	for i := range list {
		list[i].Customer = orders[list[i].Email]
	}
	return nil
}
