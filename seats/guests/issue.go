package guests

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// Issuing says which guests get tickets, and of what.
type Issuing struct {
	Key    string
	Block  seats.ID   // that their seats come from; zero: the best that are available
	Type   string     // key of the ticket type; empty: the usual one of each seat
	Guests []seats.ID // none: all who have no tickets yet
}

// Issued is what came of it.
type Issued struct {
	Guests, Tickets int
	Left            []seats.ID // who wait: their places were not there
	Tables          int        `json:",omitempty"` // how many of those do not fit: there are enough seats, but tables or rows are sold whole, or shared by parties of other sizes
}

// Issue gives guests their tickets, one after the other. Guests who have tickets get no others. Guests for whom there are not enough seats wait.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if no guest got any; those of a form that is done once; the
// database's.
func (g *Guests) Issue(ctx context.Context, m organizers.Member, s *seats.Sale, i Issuing) (done Issued, err error) {
	if i.Type != "" && s.Prices.TypeKeyed(i.Type) < 0 {
		return done, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no ticket type “%s”. Nothing was sold."), Args: []any{i.Type}}
	}
	act := organizers.Action{Key: i.Key, Form: []any{"issue", s.Event.Slug, i.Block, i.Type, i.Guests}}
	err = g.alone(ctx, s.Event.ID, func(ctx context.Context) error {
		answer, err := g.desk.WithAnswer(ctx, m, act, func(func(string) seats.TxHook) (string, error) { // each guest has an audit entry
			if done, err = g.issueAll(ctx, m, s, i); err != nil {
				return "", err
			}
			said, err := json.Marshal(done)
			return string(said), err
		})
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(answer), &done)
	})
	return done, wrap("issue", err)
}

// issueAll gives tickets to the guests of a form, as far as there are seats.
func (g *Guests) issueAll(ctx context.Context, m organizers.Member, s *seats.Sale, i Issuing) (done Issued, err error) {
	due, err := g.due(ctx, m, s, i)
	if err != nil {
		return done, err
	}
	open, err := g.open(ctx, m, s, i)
	if err != nil {
		return done, err
	}
	for _, guest := range due {
		got, err := g.issue(ctx, m, s, i, guest, &open)
		switch {
		case err != nil:
			return done, err
		case got == 0:
			done.Left = append(done.Left, guest.ID)
			if len(open) >= guest.Places {
				done.Tables++
			}
		default:
			done.Guests, done.Tickets = done.Guests+1, done.Tickets+got
		}
	}
	if done.Guests == 0 && done.Tables > 0 {
		return done, &seats.Conflict{Code: seats.CodeWholeTable, Message: text.Mark("There are enough seats, but these guests do not fit the tables. Some tables or rows are sold whole, or only to parties of a certain size. Nothing was issued. Choose other seats, or change the number of tickets.")}
	}
	if done.Guests == 0 && len(done.Left) > 0 {
		return done, &seats.Conflict{Code: seats.CodeSoldOut, Message: text.Mark("There are not enough seats for any of these guests. Nothing was issued. Choose other seats, or free some first.")}
	}
	return done, nil
}

// due are the guests of a form who have no tickets yet.
func (g *Guests) due(ctx context.Context, m organizers.Member, s *seats.Sale, i Issuing) ([]Guest, error) {
	list, err := g.List(ctx, m, s.Event.ID)
	if err != nil {
		return nil, err
	}
	for _, id := range i.Guests {
		if !slices.ContainsFunc(list, func(one Guest) bool { return one.ID == id }) {
			return nil, ErrNone
		}
	}
	return slices.DeleteFunc(list, func(one Guest) bool {
		return !one.Waits() || len(i.Guests) > 0 && !slices.Contains(i.Guests, one.ID)
	}), nil
}

// open are the seats that guests may get now, and that the ticket type is sold for.
func (g *Guests) open(ctx context.Context, m organizers.Member, s *seats.Sale, i Issuing) (list []int, err error) {
	if i.Block != (seats.ID{}) {
		if list, err = g.blocks.Seats(ctx, m, s.Event.ID, i.Block); err != nil {
			return nil, err
		}
	} else {
		for idx, state := range s.Snapshot().States {
			if state == seats.Free {
				list = append(list, idx)
			}
		}
	}
	return slices.DeleteFunc(list, func(idx int) bool { return !sells(s, s.Plan.Seats[idx].Category, i.Type) }), nil
}

// sells reports whether the box office sells a ticket type in a category; with no key, any of them.
func sells(s *seats.Sale, category int, key string) bool {
	for kind, t := range s.Prices.Types {
		if _, priced := s.Prices.Price(0, kind, category); priced && !t.Retired && (key == "" || t.Key == key) {
			return true
		}
	}
	return false
}

const issuedSQL = `UPDATE guest SET order_id = $2, block_id = $3 WHERE id = $1`

// issue gives a guest tickets, and takes their seats off those that are open. It returns how many: 0 if they do not fit.
func (g *Guests) issue(ctx context.Context, m organizers.Member, s *seats.Sale, i Issuing, guest Guest, open *[]int) (int, error) {
	var block *seats.ID
	if i.Block != (seats.ID{}) {
		block = &i.Block
	}
	for {
		chosen := s.BestOf(guest.Places, *open)
		if chosen == nil {
			return 0, nil
		}
		f := orders.OfficeForm{Key: "guest." + guest.ID.String(), Seats: chosen, Name: guest.Name, Email: guest.Email, Method: payments.Free, Reason: orders.ReasonGuests, Types: map[int]string{}}
		labels := []string{}
		for _, idx := range chosen {
			f.Types[idx], labels = i.Type, append(labels, s.Plan.Label(idx))
		}
		f.Entry = func(q *pgx.Batch, order seats.ID, _ int64) { q.Queue(issuedSQL, guest.ID, order, block) }
		act := organizers.Action{
			Key: i.Key + "." + guest.ID.String(), Form: []any{"issue", s.Event.Slug, guest.ID}, What: text.Mark("gave complimentary tickets to a guest of"),
			Subject: "events/" + s.Event.Slug + "/guests", Detail: map[string]any{"seats": labels},
		}
		err := g.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			_, err := g.orders.SellAtOffice(ctx, s, f, also)
			return err
		})
		var taken *seats.Conflict
		gone := func(idx int) bool { return slices.Contains(chosen, idx) }
		if errors.As(err, &taken) && (taken.Code == seats.CodeTaken || taken.Code == seats.CodeResale) && slices.ContainsFunc(taken.Seats, gone) {
			gone = func(idx int) bool { return slices.Contains(taken.Seats, idx) }
		} else if err != nil {
			return 0, err
		}
		*open = slices.DeleteFunc(*open, gone)
		if err == nil {
			return guest.Places, nil
		}
	}
}

const (
	strikeSQL = `UPDATE guest SET struck_at = clock_timestamp() WHERE id = $1 AND event_id = $2 AND struck_at IS NULL`
	removeSQL = `DELETE FROM guest WHERE id = $1 AND event_id = $2 AND order_id IS NULL`
)

// Strike takes a guest off the list. Their tickets are revoked, and the seats go back to the block that they came from, or on sale.
// Nothing is left of a guest who had no tickets. A repeat changes nothing.
//
// Errors: ErrNone; a *seats.Conflict, as if a ticket was used; those of a form that is done once; the database's.
func (g *Guests) Strike(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID) error {
	act := organizers.Action{Key: key, Form: []any{"strike", s.Event.Slug, id}, What: text.Mark("struck a guest off the list of"), Subject: "events/" + s.Event.Slug + "/guests"}
	err := g.alone(ctx, s.Event.ID, func(ctx context.Context) error {
		return g.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			guest, err := g.Find(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			sql := strikeSQL
			if guest.Order == "" {
				sql = removeSQL
			}
			also = seats.Both(also, func(q *pgx.Batch) { q.Queue(sql, id, s.Event.ID) })
			if !guest.Comes() {
				return g.desk.As(ctx, m, func(tx pgx.Tx) error { return also.Run(ctx, tx) })
			}
			order, err := g.orders.Find(ctx, guest.Order)
			if err != nil {
				return err
			}
			return g.orders.RevokeBy(ctx, s, order, orders.Revoking{Override: true, Block: guest.Block, Also: also})
		})
	})
	return wrap("strike", err)
}
