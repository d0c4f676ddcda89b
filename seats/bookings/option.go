package bookings

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Limits of a booking.
const (
	MostPlaces = 500
	mostName   = 200 // characters
	mostNote   = 1000
)

// Request asks for an option.
type Request struct {
	Contact
	Seats    []int // none: the best Count that are available
	Count    int
	Category int // of these; -1: any
	Prices   []Price
	Until    time.Time
	Deposit  *DepositTerms `json:",omitempty"` // that the contact is asked for; nil: none, or the one that it has
	Withdraw bool          `json:",omitempty"` // the contact is not asked for a deposit any more, unless it was paid
}

// tidy puts what was typed into one spelling, and says what is wrong with it.
func (c *Contact) tidy() error {
	for _, line := range []*string{&c.Name, &c.Email, &c.Organisation} {
		*line = strings.Join(strings.Fields(*line), " ")
	}
	c.Note = strings.TrimSpace(strings.ReplaceAll(c.Note, "\r\n", "\n"))
	switch {
	case c.Name == "":
		return &seats.ValidationError{Message: text.Mark("Say who asks for the group. Nothing was changed.")}
	case !seats.OneLine(c.Name, mostName) || !seats.OneLine(c.Organisation, mostName) || !seats.OneLine(strings.ReplaceAll(c.Note, "\n", " "), mostNote):
		return &seats.ValidationError{Message: text.Mark("A name has at most %d characters, and a note %d. Nothing was changed."), Args: []any{mostName, mostNote}}
	case c.Email != "" && !seats.IsEmail(c.Email):
		return &seats.ValidationError{Message: text.Mark("The email address is not in the format name@example.com. Nothing was changed.")}
	}
	return nil
}

// check says what is wrong with the terms of an option.
func check(e seats.Event, r Request) error {
	prices, until := r.Prices, r.Until
	if until.IsZero() || !until.Before(e.StartsAt) {
		return &seats.ValidationError{Message: text.Mark("An option ends before the event begins. Nothing was changed. Choose when.")}
	}
	for i, p := range prices {
		if p.Count < 0 || p.Count > MostPlaces || p.Each != nil && *p.Each < 0 || slices.ContainsFunc(prices[:i], func(o Price) bool { return o.Type == p.Type }) {
			return &seats.ValidationError{Message: text.Mark("A ticket type is named once, with a number of tickets and a price that are not negative. Nothing was changed.")}
		}
	}
	return r.Deposit.check(e, until)
}

// A reminder goes out two days before the option ends, if the contact had an hour more than that.
const (
	insertSQL = `
INSERT INTO booking (id, event_id, name, email, organisation, note, places, prices, remind_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $4 <> '' AND $9::timestamptz > clock_timestamp() + interval '49 hours' THEN $9 - interval '48 hours' END)`
	mailSQL = `INSERT INTO mail (kind, email, about, language) SELECT $2, b.email, b.id::text, e.language FROM booking b JOIN event e ON e.id = b.event_id WHERE b.id = $1 AND b.email <> ''`
)

// Kinds of mail. Both have the id of their booking.
const (
	MailOption = "option"      // what is kept, until when, and what it costs
	MailEnds   = "option-ends" // the option ends soon
)

// Take takes an option: the seats are blocked for the group, all of them or none, and the contact gets an email. It returns the booking's
// id; a repeat gets the same one.
//
// Errors: *seats.ValidationError; a *seats.Conflict if a seat has a holder; those of a form that is done once; the database's.
func (b *Bookings) Take(ctx context.Context, m organizers.Member, key string, s *seats.Sale, r Request) (id seats.ID, err error) {
	err = r.tidy()
	if err == nil {
		err = check(s.Event, r)
	}
	if n := max(len(r.Seats), r.Count); err == nil && (n < 1 || n > MostPlaces || len(r.Seats) > 0 && r.Count > 0) {
		err = &seats.ValidationError{Message: text.Mark("A group has 1 to %d seats: choose them, or say how many. Nothing was changed."), Args: []any{MostPlaces}}
	}
	if err != nil {
		return id, err
	}
	act := organizers.Action{
		Key: key, Form: []any{"option", s.Event.Slug, r}, What: text.Mark("took an option for a group of"), Subject: "events/" + s.Event.Slug + "/bookings/",
		Detail: map[string]any{"seats": max(len(r.Seats), r.Count), "until": r.Until},
	}
	answer, err := b.desk.WithAnswer(ctx, m, act, func(also func(string) seats.TxHook) (string, error) {
		id := seats.NewID()
		return id.String(), b.take(ctx, s, id, r, also(id.String()))
	})
	if err != nil {
		return id, wrap("take", err)
	}
	b.blocks.Made()
	b.remind.Wake()
	b.MailWritten()
	return seats.ParseID(answer)
}

// take blocks the seats of a request. Where it leaves the choice to us, seats that are gone meanwhile are replaced by others.
func (b *Bookings) take(ctx context.Context, s *seats.Sale, id seats.ID, r Request, also seats.TxHook) error {
	open := r.open(s)
	for {
		k := Booking{ID: id, Contact: r.Contact, Prices: r.Prices, Seats: slices.Compact(slices.Sorted(slices.Values(r.Seats)))}
		if r.Count > 0 {
			k.Seats = s.BestOf(r.Count, open)
		}
		if k.Seats == nil && len(open) >= r.Count {
			return onlyWhole(r.Count)
		}
		if k.Seats == nil {
			return &seats.Conflict{Code: seats.CodeSoldOut, Message: text.Mark("There are not so many seats available. Nothing was changed. Ask for fewer, or choose them.")}
		}
		_, cost, err := k.Quote(s)
		if err != nil {
			return err
		}
		var deposit int64
		if r.Deposit != nil {
			if deposit, err = r.Deposit.of(cost.Total); err != nil {
				return err
			}
		}
		_, err = s.Block(ctx, seats.BlockRequest{
			Seats: k.Seats, Group: id, BlockTerms: seats.BlockTerms{Kind: seats.BlockGroup, EndsAt: r.Until},
			Also: seats.Both(func(q *pgx.Batch) {
				q.Queue(insertSQL, id, s.Event.ID, r.Name, r.Email, r.Organisation, r.Note, len(k.Seats), append([]Price{}, r.Prices...), r.Until)
				r.Deposit.queue(q, s.Event.ID, id, deposit, cost)
				q.Queue(mailSQL, id, MailOption)
			}, also),
		})
		var taken *seats.Conflict
		if r.Count == 0 || !errors.As(err, &taken) || taken.Code != seats.CodeTaken || !slices.ContainsFunc(taken.Seats, func(idx int) bool { return slices.Contains(open, idx) }) {
			return err
		}
		open = slices.DeleteFunc(open, func(idx int) bool { return slices.Contains(taken.Seats, idx) })
	}
}

// onlyWhole refuses to choose n seats: there are as many, but some of them are sold whole.
func onlyWhole(n int) *seats.Conflict {
	return &seats.Conflict{
		Code: seats.CodeWholeTable, Message: text.Mark("Some tables or rows are sold whole, or only to parties of a certain size, and no choice of them comes to exactly %s. Nothing was changed. Ask for another number, or choose the seats."),
		Args: []any{text.Some(n, "%d seat", "%d seats")},
	}
}

// open are the seats that a request leaves us to choose from.
func (r Request) open(s *seats.Sale) (list []int) {
	if r.Count == 0 {
		return nil
	}
	for idx, state := range s.Snapshot().States {
		if state == seats.Free && (r.Category < 0 || s.Plan.Seats[idx].Category == r.Category) {
			list = append(list, idx)
		}
	}
	return list
}

const changeSQL = `
UPDATE booking SET name = $2, email = $3, organisation = $4, note = $5, prices = $6,
       remind_at = CASE WHEN $3 <> '' AND $7::timestamptz > clock_timestamp() + interval '49 hours' THEN $7 - interval '48 hours' END
 WHERE id = $1`

// Change sets the contact of an option, its prices, and until when it lasts.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if the option is over; those of a form that is done once; the database's.
func (b *Bookings) Change(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID, r Request) error {
	err := r.tidy()
	if err == nil {
		err = check(s.Event, r)
	}
	if err != nil {
		return err
	}
	act := organizers.Action{
		Key: key, Form: []any{"change booking", s.Event.Slug, id, r}, What: text.Mark("changed the booking of a group of"), Subject: subjectOf(s, id),
		Detail: map[string]any{"until": r.Until, "prices": r.Prices},
	}
	err = b.alone(ctx, id, func(ctx context.Context) error {
		return b.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			k, err := b.open(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			if r.Deposit == nil && !r.Withdraw {
				if r.Deposit = k.Deposit.terms(); r.Deposit != nil {
					if err := r.Deposit.check(s.Event, r.Until); err != nil {
						return err
					}
				}
			}
			k.Prices = r.Prices
			_, cost, err := k.Quote(s)
			if err != nil {
				return err
			}
			return pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
				if err := seats.ChangeBlock(ctx, tx, s.Event.ID, id, seats.BlockTerms{Kind: seats.BlockGroup, EndsAt: r.Until}); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, changeSQL, id, r.Name, r.Email, r.Organisation, r.Note, append([]Price{}, r.Prices...), r.Until); err != nil {
					return err
				}
				if err := k.askAgain(ctx, tx, s.Event.ID, r.Deposit, cost); err != nil {
					return err
				}
				return also.Run(ctx, tx)
			})
		})
	})
	if err == nil {
		b.blocks.Made()
		b.remind.Wake()
		b.MailWritten()
	}
	return wrap("change", err)
}

const reduceSQL = `UPDATE booking SET places = $2, prices = $3 WHERE id = $1`

// Reduce puts seats of an option on sale again: these, or all but the best so many. Those that are left are one at least.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if the option is over, or a seat is not of it; those of a form that is done
// once; the database's.
func (b *Bookings) Reduce(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID, these []int, keep int) error {
	act := organizers.Action{Key: key, Form: []any{"reduce", s.Event.Slug, id, these, keep}, What: text.Mark("put seats of a group on sale of"), Subject: subjectOf(s, id)}
	err := b.alone(ctx, id, func(ctx context.Context) error {
		return b.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			k, err := b.open(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			these := these
			if len(these) == 0 && keep > 0 && keep < len(k.Seats) {
				kept := s.BestOf(keep, k.Seats)
				if kept == nil {
					return onlyWhole(keep)
				}
				these = slices.DeleteFunc(slices.Clone(k.Seats), func(idx int) bool { return slices.Contains(kept, idx) })
			}
			these = slices.Compact(slices.Sorted(slices.Values(these)))
			left := len(k.Seats) - len(these)
			if len(these) == 0 || left < 1 {
				return &seats.ValidationError{Message: text.Mark("The group keeps fewer seats than now, and at least one. Nothing was changed. To give up all of them, cancel the option.")}
			}
			rest := k
			rest.Seats = slices.DeleteFunc(slices.Clone(k.Seats), func(idx int) bool { return slices.Contains(these, idx) })
			rest.Prices = trimmed(k.Prices, left)
			if err := s.RefuseParty(rest.Seats); err != nil {
				return err
			}
			_, cost, err := rest.Quote(s)
			if err != nil {
				return err
			}
			return b.unblock(ctx, s, k, these, seats.Both(also, func(q *pgx.Batch) {
				q.Queue(reduceSQL, id, left, rest.Prices)
				k.lower(q, cost)
			}))
		})
	})
	if err == nil {
		b.MailWritten()
	}
	return wrap("reduce", err)
}

// unblock puts seats of an option on sale.
func (b *Bookings) unblock(ctx context.Context, s *seats.Sale, k Booking, these []int, also seats.TxHook) error {
	_, err := s.Unblock(ctx, seats.BlockRequest{Seats: these, Of: k.ID, Group: k.ID, Also: also})
	return err
}

const cancelSQL = `UPDATE booking SET cancelled_at = clock_timestamp(), remind_at = NULL WHERE id = $1`

// Cancel ends an option: its seats are on sale at once.
//
// Errors: ErrNone; a *seats.Conflict if the option is over; those of a form that is done once; the database's.
func (b *Bookings) Cancel(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID) error {
	act := organizers.Action{Key: key, Form: []any{"cancel booking", s.Event.Slug, id}, What: text.Mark("cancelled the option of a group of"), Subject: subjectOf(s, id)}
	err := b.alone(ctx, id, func(ctx context.Context) error {
		return b.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			k, err := b.open(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			return b.unblock(ctx, s, k, k.Seats, seats.Both(also, func(q *pgx.Batch) { q.Queue(cancelSQL, id) }))
		})
	})
	return wrap("cancel", err)
}
