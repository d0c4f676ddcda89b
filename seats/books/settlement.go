package books

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Share is a part of what a performance earned that goes to another party, such as royalties.
type Share struct {
	Name    string `json:"name"`    // of the party
	Percent int    `json:"percent"` // in hundredths of a percent
	Of      string `json:"of"`      // OfTotal, OfNet or OfTickets
}

// What shares are of.
const (
	OfTotal   = "total"   // everything, with fees and taxes
	OfNet     = "net"     // everything, without taxes
	OfTickets = "tickets" // tickets alone, without fees and taxes
)

// MostShares is how many a performance may have.
const MostShares = 6

// Settlement is what a performance earned until a moment, and who gets what of it. Amounts are minor units.
type Settlement struct {
	Event    *Event
	At       time.Time // of the figures
	Rows     []SettledRow
	Methods  []Row // the same money by payment method
	Total    Sums
	Tickets  int64 // of the total: tickets without fees and taxes
	Unpaid   int64 // that valid tickets still cost
	Shares   []SettledShare
	Promoter int64 // what is left for the promoter
}

// SettledRow is the tickets of a category and type, or what buyers added.
type SettledRow struct {
	Category, Type string
	Line           string // LineDonation, LinePostage, LineExcess, LineRetained; empty: tickets
	Sums
}

// SettledShare is a share with its amount.
type SettledShare struct {
	Share
	Amount int64
}

// Part is a percentage of an amount, in hundredths of a percent, rounded half away from zero.
func Part(amount int64, percent int) int64 {
	sign := int64(1)
	if amount < 0 {
		sign, amount = -1, -amount
	}
	whole, rest := amount/10000, amount%10000
	return sign * (whole*int64(percent) + (rest*int64(percent)+5000)/10000)
}

// What is still to pay for valid tickets, as the orders' pages say it.
const unpaidSQL = `
SELECT clock_timestamp(), coalesce(sum(greatest(0, t.cost + o.kept - o.paid - o.waived)), 0)::bigint
  FROM orders o, LATERAL (SELECT coalesce(sum(price + fee), 0)::bigint AS cost FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 WHERE o.event_id = $1 AND o.method IN ('door', 'invoice') AND o.state = 'confirmed'`

// Settlement settles an event of a member's team. Its total is that of the report of the event.
func (b *Books) Settlement(ctx context.Context, m organizers.Member, slug string) (s Settlement, err error) {
	err = pgx.BeginTxFunc(ctx, b.db, snapshot, func(tx pgx.Tx) error {
		events, err := readEvents(ctx, tx, m.Team, Filter{Event: slug})
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return seats.ErrNoEvent
		}
		s.Event = events[0]
		shares, err := readShares(ctx, tx, s.Event.ID)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, unpaidSQL, s.Event.ID).Scan(&s.At, &s.Unpaid); err != nil {
			return err
		}
		from, to := Filter{}.bounds()
		rows, methods := map[SettledRow]*Sums{}, map[Row]*Sums{}
		err = eachPosting(ctx, tx, events, from, to, func(p Posting) { s.add(rows, methods, p) })
		if err == nil {
			s.close(rows, methods, shares)
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("books: settle: %w", err)
	}
	return s, nil
}

// add adds a posting to its row, and to that of its method.
func (s *Settlement) add(rows map[SettledRow]*Sums, methods map[Row]*Sums, p Posting) {
	at := SettledRow{Category: p.Category, Type: p.Type}
	if p.Line != LineTicket && p.Line != LineFee {
		at = SettledRow{Line: p.Line}
	}
	if rows[at] == nil {
		rows[at] = &Sums{}
	}
	rows[at].add(p)
	if by := key(p.Event, cellOf(p), ByMethod); p.Amount != 0 {
		if methods[by] == nil {
			methods[by] = &Sums{}
		}
		methods[by].add(p)
	}
	s.Total.add(p)
	if p.Line == LineTicket {
		s.Tickets += p.Amount - p.Tax
	}
}

// close lists the rows, and divides the total.
func (s *Settlement) close(rows map[SettledRow]*Sums, methods map[Row]*Sums, shares []Share) {
	for at, sums := range rows {
		at.Sums = *sums
		s.Rows = append(s.Rows, at)
	}
	slices.SortFunc(s.Rows, func(a, b SettledRow) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Type, b.Type))
	})
	for by, sums := range methods {
		by.Sums = *sums
		s.Methods = append(s.Methods, by)
	}
	slices.SortFunc(s.Methods, compare(ByMethod))
	s.Promoter = s.Total.Total()
	for _, share := range shares {
		of := map[string]int64{OfTotal: s.Total.Total(), OfNet: s.Total.Net(), OfTickets: s.Tickets}[share.Of]
		settled := SettledShare{share, Part(of, share.Percent)}
		s.Shares, s.Promoter = append(s.Shares, settled), s.Promoter-settled.Amount
	}
}

const sharesSQL = `
SELECT s.shares FROM event e JOIN event_share s ON s.event_id IN (e.id, (SELECT lead_id FROM series WHERE id = e.series_id))
 WHERE e.id = $1 ORDER BY s.event_id = $1 DESC LIMIT 1`

// readShares returns the shares of an event, which may be those of its series.
func readShares(ctx context.Context, tx pgx.Tx, event int64) (list []Share, err error) {
	err = tx.QueryRow(ctx, sharesSQL, event).Scan(&list)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return list, err
}

const setSharesSQL = `INSERT INTO event_share (event_id, shares) VALUES ($1, $2) ON CONFLICT (event_id) DO UPDATE SET shares = $2`

// SetShares changes the shares of an event of a member's team.
//
// Errors: a *seats.ValidationError that says what is wrong; those of idempotency.Key.Take; the database's.
func (b *Books) SetShares(ctx context.Context, m organizers.Member, e seats.Event, shares []Share, key string) error {
	if wrong := checkShares(shares); wrong.ID != "" {
		return seats.Unchanged(wrong)
	}
	return b.desk.Change(ctx, m, key, []any{"shares", e.Slug, shares}, func(tx pgx.Tx) error {
		if shares == nil {
			shares = []Share{} // of its own, none
		}
		if _, err := tx.Exec(ctx, setSharesSQL, e.ID, shares); err != nil {
			return fmt.Errorf("books: set shares: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the shares"), "events/"+e.Slug+"/settlement", map[string]any{"shares": shares})
	})
}

// checkShares says what is wrong with shares; the zero message if nothing is.
func checkShares(shares []Share) (wrong text.Message) {
	if len(shares) > MostShares {
		return text.Say("A performance has at most %d shares.", MostShares)
	}
	for _, s := range shares {
		switch {
		case s.Name == "":
			return text.Say("Enter who gets each share.")
		case utf8.RuneCountInString(s.Name) > 100 || !utf8.ValidString(s.Name) || strings.ContainsFunc(s.Name, unicode.IsControl):
			return text.Say("The name of a share is too long, or has characters that cannot be printed.")
		case s.Percent <= 0 || s.Percent > 10000:
			return text.Say("A share is more than 0 and at most 100 percent.")
		case s.Of != OfTotal && s.Of != OfNet && s.Of != OfTickets:
			return text.Say("Choose what each share is of.")
		}
	}
	return wrong
}

const copySharesSQL = `INSERT INTO event_share (event_id, shares) SELECT $2, shares FROM event_share WHERE event_id = $1 ON CONFLICT DO NOTHING`

// CopyShares gives a new event of the member's team the shares of another one. Done twice, it changes nothing.
func (b *Books) CopyShares(ctx context.Context, m organizers.Member, from, to int64) error {
	err := b.desk.As(ctx, m, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, copySharesSQL, from, to)
		return err
	})
	if err != nil {
		return fmt.Errorf("books: copy shares: %w", err)
	}
	return nil
}
