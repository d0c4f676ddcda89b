package customers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// MostMerged is how many addresses a person has at most.
const MostMerged = 20

// lockSQL has those who change customers of a team wait for each other.
const lockSQL = `SELECT FROM team WHERE id = $1 FOR NO KEY UPDATE`

const askedEmailsSQL = `SELECT customer_emails($1, email) FROM (` + asked + `) o`

// lockPerson returns the addresses of the customer of an order, or of an imported one: that of the order first. They stay what they are until the
// transaction ends. ErrNone if the team has no such customer.
func lockPerson(ctx context.Context, tx pgx.Tx, team int64, id seats.ID) (emails []string, err error) {
	if _, err := tx.Exec(ctx, lockSQL, team); err != nil {
		return nil, err
	}
	err = tx.QueryRow(ctx, askedEmailsSQL, team, id).Scan(&emails)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNone
	}
	return emails, err
}

const mergeSQL = `
INSERT INTO customer_address (team_id, email, person) SELECT $1, unnest($2::text[]), $3
    ON CONFLICT (team_id, email) DO UPDATE SET person = $3`

// Merge says that customers are one person: their records become one. It changes what the desk shows, exports and erases: orders, tickets, credit and memberships stay
// under their addresses, and each address has its own limits, account and emails. Separate takes it back.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if they are one already; those of a form that is done once; the database's.
func (c *Customers) Merge(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, id seats.ID, with []seats.ID) error {
	err := d.Change(ctx, m, key, []any{"merge", id, with}, func(tx pgx.Tx) error {
		emails, err := lockPerson(ctx, tx, m.Team, id)
		if err != nil {
			return err
		}
		if len(with) == 0 {
			return &seats.ValidationError{Message: text.Mark("Choose the other record of this person. Nothing was changed.")}
		}
		one := len(emails)
		for _, other := range with {
			theirs, err := lockPerson(ctx, tx, m.Team, other)
			if err != nil {
				return err
			}
			emails = append(emails, theirs...)
		}
		slices.Sort(emails)
		if emails = slices.Compact(emails); len(emails) == one {
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("These are one record already. Nothing was changed.")}
		}
		if len(emails) > MostMerged {
			return &seats.ValidationError{Message: text.Mark("A record has at most %d email addresses. Nothing was changed."), Args: []any{MostMerged}}
		}
		n, err := noteOf(ctx, tx, m.Team, emails)
		if err != nil {
			return err
		}
		if n.check() != nil {
			return &seats.ValidationError{Message: text.Mark("Together, the notes are too long or have too many tags. Shorten one of them first. Nothing was changed.")}
		}
		if _, err := tx.Exec(ctx, mergeSQL, m.Team, emails, seats.NewID()); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("merged customers"), "customers/"+id.String(), map[string]any{"merged": idsOf(with)})
	})
	if err != nil {
		return fmt.Errorf("customers: merge: %w", err)
	}
	return nil
}

func idsOf(list []seats.ID) string {
	var ids []string
	for _, id := range list {
		ids = append(ids, id.String())
	}
	return strings.Join(ids, " ")
}

const ofEmailSQL = `SELECT s.id FROM (SELECT $2::text[] AS emails) a CROSS JOIN LATERAL ` + summary + ` s`

// ByEmail returns the customer of an address in a member's team. Errors: ErrNone; the database's.
func (c *Customers) ByEmail(ctx context.Context, m organizers.Member, email string) (id seats.ID, err error) {
	err = c.db.QueryRow(ctx, ofEmailSQL, m.Team, []string{strings.ToLower(strings.TrimSpace(email))}).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return id, ErrNone
	case err != nil:
		return id, fmt.Errorf("customers: find an address: %w", err)
	}
	return id, nil
}

// Separate takes an address out of the record of a customer: it is a record of its own again. A note that was changed since they were merged stays with
// the address that it stands under.
//
// Errors: ErrNone; a *seats.Conflict if it is not merged with them; those of a form that is done once; the database's.
func (c *Customers) Separate(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, id seats.ID, email string) error {
	var apart seats.ID // what the log says: it has no addresses
	if err := c.db.QueryRow(ctx, ofEmailSQL, m.Team, []string{email}).Scan(&apart); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("customers: separate: %w", err)
	}
	err := d.Change(ctx, m, key, []any{"separate", id, email}, func(tx pgx.Tx) error {
		emails, err := lockPerson(ctx, tx, m.Team, id)
		if err != nil {
			return err
		}
		if len(emails) < 2 || !slices.Contains(emails, email) {
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This address is not merged with the others any more. Nothing was changed.")}
		}
		if _, err := tx.Exec(ctx, eraseAddressSQL, m.Team, email); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sweepSinglesSQL, m.Team); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("separated an address of a customer"), "customers/"+id.String(), map[string]any{"separated": apart})
	})
	if err != nil {
		return fmt.Errorf("customers: separate: %w", err)
	}
	return nil
}
