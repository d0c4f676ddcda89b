package privacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Past is a list of erased persons, to be kept beside backups. It has no address.
type Past struct {
	Key      []byte       `json:"key"` // as the database has it: sealed, or the key itself
	Erasures []PastPerson `json:"erasures"`
}

// PastPerson is an erasure of a person.
type PastPerson struct {
	Team   int64     `json:"team"`
	Person []byte    `json:"person"` // hash of the address
	Orders int       `json:"orders"`
	At     time.Time `json:"at"`
}

const storedKeySQL = `SELECT secret FROM erasure_key`

const pastSQL = `SELECT team_id, person, orders, at FROM erasure WHERE person IS NOT NULL ORDER BY id`

// Past returns all erasures of persons.
func (p *Privacy) Past(ctx context.Context) (past Past, err error) {
	err = pgx.BeginTxFunc(ctx, p.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, storedKeySQL).Scan(&past.Key); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		rows, err := tx.Query(ctx, pastSQL)
		if err != nil {
			return err
		}
		past.Erasures, err = pgx.CollectRows(rows, pgx.RowToStructByPos[PastPerson])
		return err
	})
	if err != nil {
		return past, fmt.Errorf("privacy: list erasures: %w", err)
	}
	return past, nil
}

// Again is the result of EraseAgain.
type Again struct {
	Persons int     // that were there, and are erased
	Blocked []error // a *Blocked for each person who cannot be erased yet
}

// ErrOtherDatabase says that a list of erased persons is not of this database.
var ErrOtherDatabase = errors.New("the list of erased persons is of another database: it has another key")

const putKeySQL = `INSERT INTO erasure_key (secret) VALUES ($1) ON CONFLICT DO NOTHING`

const putPastSQL = `
INSERT INTO erasure (team_id, person, complete, orders, at)
SELECT $1, $2, true, $3, $4 WHERE NOT EXISTS (SELECT FROM erasure WHERE team_id = $1 AND person = $2 AND at = $4)`

// EraseAgain is for a database that was restored: it erases persons who were erased after its backup was made. Then it does
// what EraseOld does. A person who has only younger rows came back since then, and stays.
//
// Errors: ErrOtherDatabase; those of seal.Box.Open; the database's.
func (p *Privacy) EraseAgain(ctx context.Context, past Past) (a Again, err error) {
	if len(past.Erasures) > 0 {
		if a, err = p.erasePast(ctx, past); err != nil {
			return a, fmt.Errorf("privacy: erase again: %w", err)
		}
	}
	return a, p.EraseOld(ctx)
}

func (p *Privacy) erasePast(ctx context.Context, past Past) (a Again, err error) {
	theirs, err := p.box.Open(past.Key, Secrets.Context(true))
	if err != nil {
		return a, err
	}
	if _, err := p.db.Exec(ctx, putKeySQL, past.Key); err != nil {
		return a, err
	}
	key, err := p.key(ctx)
	if err != nil {
		return a, err
	}
	if !bytes.Equal(key, theirs) {
		return a, ErrOtherDatabase
	}
	last := map[string]time.Time{} // the last erasure of a person in a team
	for _, x := range past.Erasures {
		if _, err := p.db.Exec(ctx, putPastSQL, x.Team, x.Person, x.Orders, x.At); err != nil {
			return a, err
		}
		last[inTeam(x.Team, x.Person)] = x.At
	}
	there, err := p.known(ctx)
	if err != nil {
		return a, err
	}
	for _, one := range there {
		if at, was := last[inTeam(one.Team, key.of(one.Email))]; !was || !one.At.Before(at) {
			continue
		}
		err := pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
			if err := customers.Lock(ctx, tx, one.Team); err != nil {
				return err
			}
			done, err := p.erasePerson(ctx, tx, one.Team, one.Email)
			if err != nil {
				return err
			}
			if err := customers.Erase(ctx, tx, one.Team); err != nil {
				return err
			}
			return organizers.Note(ctx, tx, organizers.Member{Team: one.Team, Name: "usher restore"}, text.Mark("erased a person again"), "privacy", map[string]int{"orders": done.Orders})
		})
		if err == nil && p.Sessions != nil {
			err = p.Sessions(ctx, one.Email)
		}
		var blocked *Blocked
		switch {
		case errors.As(err, &blocked):
			a.Blocked = append(a.Blocked, blocked)
		case err != nil:
			return a, err
		default:
			a.Persons++
		}
	}
	return a, nil
}

// inTeam names a person in a team.
func inTeam(team int64, hash []byte) string { return fmt.Sprintf("%d %x", team, hash) }

// known is an address in a team, and when it came there the last time.
type known struct {
	Team  int64
	Email string
	At    time.Time
}

const knownSQL = `
SELECT team_id, email, max(at) FROM (
    SELECT e.team_id, lower(o.email) AS email, coalesce((SELECT max(done_at) FROM email_change WHERE order_id = o.id), o.created_at) AS at FROM orders o JOIN event e ON e.id = o.event_id WHERE o.email <> ''
     UNION ALL
    SELECT e.team_id, lower(p.form->>'email'), coalesce((SELECT max(done_at) FROM email_change WHERE order_id = p.order_id), p.created_at) FROM payment p JOIN event e ON e.id = p.event_id WHERE p.form->>'email' <> ''
     UNION ALL
    SELECT e.team_id, n.email, n.joined_at FROM entry n JOIN event e ON e.id = n.event_id WHERE n.email <> ''
     UNION ALL
    SELECT e.team_id, lower(m.email), m.created_at FROM mail m JOIN event e ON e.room_id = m.room_id WHERE m.kind = 'place'
     UNION ALL
    SELECT e.team_id, a.email, a.at FROM ticket_transfer f JOIN event e ON e.id = f.event_id, LATERAL (VALUES (lower(f.email), f.accepted_at), (lower(f.sent_to), f.offered_at)) AS a(email, at) WHERE a.email <> ''
     UNION ALL
    SELECT e.team_id, lower(f.sent_to), f.offered_at FROM resale_offer f JOIN event e ON e.id = f.event_id WHERE f.sent_to <> ''
     UNION ALL
    SELECT e.team_id, a.email, c.asked_at FROM email_change c JOIN event e ON e.id = c.event_id, LATERAL (VALUES (lower(c.old_email)), (lower(c.new_email))) AS a(email) WHERE a.email <> ''
     UNION ALL
    SELECT team_id, lower(unnest(ARRAY[buyer, recipient])), created_at FROM gift_card
     UNION ALL
    SELECT team_id, email, given_at FROM membership
     UNION ALL
    SELECT team_id, email, imported_at FROM customer
     UNION ALL
    SELECT team_id, email, merged_at FROM customer_address
     UNION ALL
    SELECT team_id, email, changed_at FROM customer_note
     UNION ALL
    SELECT e.team_id, lower(b.email), b.at FROM booking b JOIN event e ON e.id = b.event_id WHERE b.email <> ''
     UNION ALL
    SELECT t.id, a.email, to_timestamp(0) FROM credit_account a, team t WHERE a.kind = 'attendee'
     UNION ALL
    SELECT t.id, a.email, a.created_at FROM account_passkey a, team t
) k
 WHERE email <> '' AND team_id IN (SELECT team_id FROM erasure WHERE person IS NOT NULL) GROUP BY team_id, email ORDER BY team_id, email`

func (p *Privacy) known(ctx context.Context) ([]known, error) {
	rows, err := p.db.Query(ctx, knownSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[known])
}
