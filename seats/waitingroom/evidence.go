package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/fairness"
)

// Kinds of evidence.
const (
	EvidenceRoom      = "room"      // its rules and its counts, at the moment of asking
	EvidenceDraw      = "draw"      // the record of its draw, if that was made
	EvidenceControl   = "control"   // an organizer's action, or refused joins
	EvidenceCall      = "call"      // numbers that were called
	EvidenceAdmission = "admission" // a number that admitted a visitor, or was given up
)

// Evidence is one line of a room's history, to prove later that it kept its rules. It contains no addresses. The holder of a
// number is a random id that is also in the database.
type Evidence struct {
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`

	Epoch   int32      `json:"epoch,omitempty"`
	First   int64      `json:"first,omitempty"`   // call: the first of the numbers
	Number  int64      `json:"number,omitempty"`  // admission: the number; call: the last one
	Holder  *seats.ID  `json:"holder,omitempty"`  // admission: of the visitor
	Entered int        `json:"entered,omitempty"` // admission: how often; not at all if it was given up before
	LeftAt  *time.Time `json:"left_at,omitempty"`
	Outcome string     `json:"outcome,omitempty"` // admission: bought, gave up, went away; empty while it may be used
	Seats   int        `json:"seats,omitempty"`   // admission: how many they bought

	CameBy string `json:"came_by,omitempty"` // admission: how its holder joined, if the room asked for work or an address: see CameBy

	Told *int64     `json:"told,omitempty"` // call: a number, and the times that were promised to it at that moment
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`

	Who    string `json:"who,omitempty"` // control
	What   string `json:"what,omitempty"`
	Detail string `json:"detail,omitempty"`

	Room       *Rules  `json:"room,omitempty"`
	Draw       *Record `json:"draw,omitempty"`
	Commitment Hex     `json:"commitment,omitempty"` // draw: as published before it
}

// Rules are the settings and the counts of a room.
type Rules struct {
	Slug    string `json:"slug"`
	Name    string `json:"name"`
	Mode    string `json:"mode"`
	Entry   string `json:"entry"`
	Work    int    `json:"work,omitempty"`    // rounds in each try of a browser before it joins
	Worked  int64  `json:"worked,omitempty"`  // places after a proof of work
	Patient int64  `json:"patient,omitempty"` // places after a minute of waiting instead
	Persons int64  `json:"persons,omitempty"` // places of verified addresses
	Phase   Phase  `json:"phase"`

	Tickets  int64 `json:"tickets"`  // sold for its events, also without the room
	Shared   int64 `json:"shared"`   // of them, of orders with an email address, account or card that another order has
	Returned int64 `json:"returned"` // of them, cancelled later
	Refunded int64 `json:"refunded"` // orders of which money went back, or is to

	Orders         int64 `json:"orders"`          // of Tickets
	SharedOrders   int64 `json:"shared_orders"`   // of Shared
	ReturnedOrders int64 `json:"returned_orders"` // of Returned

	Refused map[string]int64 `json:"refused,omitempty"` // claims for its events, by the code of what refused them

	OpensAt *time.Time `json:"opens_at,omitempty"`
	Lobby   int64      `json:"lobby"`
	Line    int64      `json:"line"`
	Serving int64      `json:"serving"`
	Slots   int        `json:"slots"`
	Rate    float64    `json:"rate"`  // 0: no limit
	Valid   float64    `json:"valid"` // seconds that a called number may be used
	Idle    float64    `json:"idle"`  // seconds inside without a sign of life
	Stay    float64    `json:"stay"`  // seconds inside without a seat
}

const roomBySlugSQL = `SELECT ` + stateColumns + ` FROM room r WHERE r.slug = $1`

const evidenceSQL = `
SELECT 'control' AS kind, at, 0, 0::bigint, 0::bigint, NULL::uuid, 0, NULL::timestamptz, '', 0, who, what, detail, NULL::bigint, NULL::timestamptz, NULL::timestamptz, id AS rank
  FROM control WHERE room_id = $1
UNION ALL
SELECT 'call', at, epoch, 1 + coalesce(lag(serving) OVER (PARTITION BY epoch ORDER BY serving), 0), serving, NULL, 0, NULL, '', 0, '', '', '', told_number, told_from, told_to, serving
  FROM called WHERE room_id = $1
UNION ALL
SELECT 'admission', admitted_at, epoch, 0, number, CASE WHEN $2::boolean THEN holder END, entered, left_at, coalesce(outcome, ''), seats, '', '', '', NULL, NULL, NULL, number
  FROM admission WHERE room_id = $1
 ORDER BY at, kind DESC, rank`

const cameBySQL = `
SELECT count(*) FILTER (WHERE came_by = 'work'), count(*) FILTER (WHERE came_by = 'patience'), count(*) FILTER (WHERE came_by = 'address')
  FROM entrant WHERE room_id = $1 AND epoch = $2`

const eventsSQL = `SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM event WHERE room_id = $1`

const pathsSQL = `SELECT kind, index, came_by FROM entrant WHERE room_id = $1 AND epoch = $2`

// paths is how the holders of numbers joined, of those of whom it is known.
func (s *State) paths(ctx context.Context, tx pgx.Tx) (map[int64]string, error) {
	var numbers []uint32
	if draw, drawn := s.Draw(); drawn {
		numbers = draw.Numbers()
	}
	rows, err := tx.Query(ctx, pathsSQL, s.ID, s.Epoch)
	if err != nil {
		return nil, err
	}
	by := map[int64]string{}
	var p Place
	var came string
	_, err = pgx.ForEachRow(rows, []any{&p.Kind, &p.Index, &came}, func() error {
		switch {
		case p.Kind == Line:
			by[s.Lobby+p.Index] = came
		case p.Index <= int64(len(numbers)):
			by[int64(numbers[p.Index-1])] = came
		}
		return nil
	})
	return by, err
}

const oneMomentSQL = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`

// Evidence passes the history of a room to each, as of one moment: the room first, and then its events in the order of time.
// It contains holders only on request, because together with the database they identify visitors. ErrNoRoom if there is no
// such room.
func (c Control) Evidence(ctx context.Context, slug string, holders bool, each func(Evidence) error) error {
	err := pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, oneMomentSQL); err != nil {
			return err
		}
		var s State
		if err := s.scan(tx.QueryRow(ctx, roomBySlugSQL, slug)); err != nil {
			return err
		}
		rules := s.rules()
		if err := tx.QueryRow(ctx, cameBySQL, s.ID, s.Epoch).Scan(&rules.Worked, &rules.Patient, &rules.Persons); err != nil {
			return err
		}
		var events []int64
		if err := tx.QueryRow(ctx, eventsSQL, s.ID).Scan(&events); err != nil {
			return err
		}
		sums, err := fairness.TicketsOf(ctx, tx, nil, events...)
		if err != nil {
			return err
		}
		rules.Tickets, rules.Shared, rules.Returned, rules.Refunded, rules.Refused = sums.Sold.Tickets, sums.Shared.Tickets, sums.Returned.Tickets, sums.Refunded, sums.Refused
		rules.Orders, rules.SharedOrders, rules.ReturnedOrders = sums.Sold.Orders, sums.Shared.Orders, sums.Returned.Orders
		paths, err := s.paths(ctx, tx)
		if err != nil {
			return err
		}
		if err := each(Evidence{Kind: EvidenceRoom, At: s.Now, Epoch: s.Epoch, Room: rules}); err != nil {
			return err
		}
		if record, drawn := s.Record(); drawn {
			if err := each(Evidence{Kind: EvidenceDraw, At: *s.DrawnAt, Epoch: s.Epoch, Draw: &record, Commitment: s.Commitment}); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, evidenceSQL, s.ID, holders)
		if err != nil {
			return err
		}
		var e Evidence
		var rank int64
		_, err = pgx.ForEachRow(rows, []any{
			&e.Kind, &e.At, &e.Epoch, &e.First, &e.Number, &e.Holder, &e.Entered, &e.LeftAt, &e.Outcome, &e.Seats, &e.Who, &e.What, &e.Detail, &e.Told, &e.From, &e.To, &rank,
		}, func() error {
			if e.CameBy = ""; e.Kind == EvidenceAdmission && e.Epoch == s.Epoch {
				e.CameBy = paths[e.Number]
			}
			return each(e)
		})
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoRoom
	}
	if err != nil {
		return fmt.Errorf("waitingroom: read the evidence of room %q: %w", slug, err)
	}
	return nil
}

func (s *State) rules() *Rules {
	return &Rules{
		Slug: s.Slug, Name: s.Name, Mode: s.Mode, Entry: s.Entry, Work: s.Work, Phase: s.Phase, OpensAt: s.OpensAt, Lobby: s.Lobby, Line: s.Line,
		Serving: s.Serving, Slots: s.Slots, Rate: s.Rate, Valid: s.Valid.Seconds(), Idle: s.Idle.Seconds(), Stay: s.Stay.Seconds(),
	}
}
