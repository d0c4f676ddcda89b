package orders

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// The name on a ticket is that of the person who comes with it: of the friend who accepted it, or the one that the buyer gave for it.
// Without one it is the buyer's. An event asks buyers for these names, or not (seats.TicketNames).

// NameOn returns the name on a ticket of the order.
func (o Order) NameOn(t Ticket) string {
	switch {
	case t.Friend != nil:
		return t.Friend.Name
	case t.Name != "":
		return t.Name
	}
	return o.Name
}

// nameOnTicket is NameOn of ticket t of order o.
const nameOnTicket = `coalesce((SELECT name FROM ticket_transfer WHERE ticket_id = t.id AND accepted_at IS NOT NULL), nullif(t.name, ''), o.name)`

// FieldTicketName is the field of the name on a ticket: at the checkout of that for a seat, in an order of the one with an id.
func FieldTicketName(of string) string { return "ticket-name-" + of }

func tidyName(name string) string { return strings.Join(strings.Fields(name), " ") }

// tidyNames keeps the names for seats of the form, if the event asks for them.
func (f Form) tidyNames(asked seats.TicketNames) map[int]string {
	names := map[int]string{}
	for _, idx := range f.Seats {
		if name := tidyName(f.Names[idx]); name != "" && asked.Asked() {
			names[idx] = name
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// wrongNames finds what is wrong with the names on the tickets of a tidy form. A subscription has none.
func (f Form) wrongNames(asked seats.TicketNames) (m Mistakes) {
	if !asked.Asked() || f.Subscriber != nil {
		return nil
	}
	for _, idx := range f.Seats {
		if wrong := wrongTicketName(f.Names[idx], asked); wrong != "" {
			m = append(m, Mistake{FieldTicketName(strconv.Itoa(idx)), wrong})
		}
	}
	return m
}

func wrongTicketName(name string, asked seats.TicketNames) string {
	switch {
	case name == "" && asked != seats.NamesRequired:
		return ""
	case !strings.ContainsFunc(name, visible):
		return text.Mark("Enter the name of the attendee.")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return text.Mark("The name has characters that cannot be printed.")
	case utf8.RuneCountInString(name) > mostName:
		return text.Mark("The name is longer than 200 characters.")
	}
	return ""
}

// Nameable are the tickets with a name that the buyer may change now.
func (o Order) Nameable(e seats.Event) (list []Ticket) {
	if !o.Changeable() || !e.TicketNames.Asked() || e.Policy.NoTransfers {
		return nil
	}
	return o.Unused()
}

// Unused are the valid tickets that were neither used nor sent to another person, by seat.
func (o Order) Unused() (list []Ticket) {
	for _, t := range o.Tickets {
		if !t.Revoked && t.In == nil && t.Friend == nil {
			list = append(list, t)
		}
	}
	return list
}

// renamed finds the tickets that get another name, and what is wrong with the names. Names that the event does not ask for are left out.
//
// Errors: ErrNoTicket; a *seats.Conflict if a ticket was sent to a friend.
func (o Order) renamed(e seats.Event, names map[string]string) (changed map[seats.ID]string, m Mistakes, err error) {
	if !e.TicketNames.Asked() {
		return nil, nil, nil
	}
	changed = map[seats.ID]string{}
	for text, name := range names {
		id, err := seats.ParseID(text)
		if err != nil {
			return nil, nil, ErrNoTicket
		}
		t, ok := o.ticket(id)
		switch {
		case !ok:
			return nil, nil, ErrNoTicket
		case wrongTicketName(name, e.TicketNames) != "":
			m = append(m, Mistake{FieldTicketName(text), wrongTicketName(name, e.TicketNames)})
		case name == t.Name:
		case e.Policy.NoTransfers:
			m = append(m, Mistake{FieldTicketName(text), personalName})
		default:
			if err := o.holds(id); err != nil {
				return nil, nil, err
			}
			changed[id] = name
		}
	}
	return changed, m, nil
}

var personalName = text.Mark("Tickets for this event are personal, so the name cannot be changed.")

// A ticket that was used, cancelled, moved or sent since the page was shown keeps its name; the tickets are locked before.
const renameSQL = `
UPDATE ticket t SET name = n.name FROM unnest($2::uuid[], $3::text[]) AS n(id, name)
 WHERE t.id = n.id AND t.order_id = $1 AND t.revoked_at IS NULL AND coalesce(t.leaving_until < clock_timestamp(), true)
   AND NOT EXISTS (SELECT FROM scan WHERE ticket_id = t.id AND admitted) AND NOT EXISTS (SELECT FROM ticket_transfer WHERE ticket_id = t.id AND accepted_at IS NOT NULL)`

// rename writes names on tickets, all of them or none.
func (o Order) rename(ctx context.Context, tx pgx.Tx, changed map[seats.ID]string) error {
	if len(changed) == 0 {
		return nil
	}
	var ids []seats.ID
	var names []string
	for id, name := range changed {
		ids, names = append(ids, id), append(names, name)
	}
	if _, err := tx.Exec(ctx, theseTicketsSQL, ids); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, renameSQL, o.ID, ids, names)
	if err == nil && int(tag.RowsAffected()) < len(ids) {
		return changedTickets
	}
	return err
}

var changedTickets = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A ticket with a new name was used, cancelled or sent to another person, so its name stays as it is. Nothing was changed. Look at the order again.")}

// WriteNames writes names on the tickets of an order that were neither used nor sent, in the order of its seats, with what is to commit with
// it. An organizer may, whatever the event asks buyers for. Tickets beyond the last name have none. shown is for how many of these tickets the
// names were written down: if it is another number now, they would be on other tickets. nil: it is not known.
//
// Errors: *seats.ValidationError if there are more names than tickets, or one cannot be printed; a *seats.Conflict if a ticket was used or sent meanwhile; the
// database's.
func (o *Orders) WriteNames(ctx context.Context, order Order, names []string, shown *int, also seats.TxHook) error {
	open := order.Unused()
	if shown != nil && *shown != len(open) {
		return changedTickets
	}
	if len(names) > len(open) {
		return &seats.ValidationError{Message: text.Mark("There are %[1]d names for %[2]d tickets that can have another one. Nothing was changed."), Args: []any{len(names), len(open)}}
	}
	changed := map[seats.ID]string{}
	for i, t := range open {
		name := ""
		if i < len(names) {
			name = tidyName(names[i])
		}
		if wrong := wrongTicketName(name, seats.NamesOptional); wrong != "" {
			return &seats.ValidationError{Message: text.Mark("Line %d: %s Nothing was changed."), Args: []any{i + 1, text.Say(wrong)}}
		}
		if name != t.Name {
			changed[t.ID] = name
		}
	}
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockByCodeSQL, order.Code); err != nil {
			return err
		}
		if err := order.rename(ctx, tx, changed); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.happened()
		return nil
	case errors.As(err, &refusal):
		return refusal
	}
	return fmt.Errorf("orders: write names: %w", err)
}
