package orders

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// ErrNoDoor is a link that opens no door: it never did, it was revoked, or
// its event is over.
var ErrNoDoor = errors.New("this link opens no door")

// Doorway is what a link for those who let people in is good for.
type Doorway struct {
	id      int64
	EventID int64
	Event   string // slug
}

const openDoorSQL = `INSERT INTO door (event_id, secret) SELECT id, $2 FROM event WHERE slug = $1`

// OpenDoor makes a link for an event, and commits also with it. The secret is in the link and nowhere else.
// seats.ErrNoEvent if there is no such event.
func (o *Orders) OpenDoor(ctx context.Context, event string, also seats.TxHook) (secret string, err error) {
	secret = seal.NewCode()
	opened, err := o.execAnd(ctx, also, openDoorSQL, event, seal.Hash(secret))
	if err != nil {
		return "", fmt.Errorf("orders: open a door: %w", err)
	}
	if !opened {
		return "", seats.ErrNoEvent
	}
	return secret, nil
}

const closeDoorsSQL = `
UPDATE door SET revoked_at = clock_timestamp()
  FROM event e WHERE e.id = event_id AND e.slug = $1 AND revoked_at IS NULL`

// CloseDoors revokes every link of an event, and commits also with it. It returns the number of links.
func (o *Orders) CloseDoors(ctx context.Context, event string, also seats.TxHook) (n int64, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, closeDoorsSQL, event)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
		return also.Run(ctx, tx)
	})
	if err != nil {
		return 0, fmt.Errorf("orders: close doors: %w", err)
	}
	return n, nil
}

// A link ends three days after its event began, or a day after it was made if that is later.
const doorSQL = `
SELECT d.id, e.id, e.slug FROM door d JOIN event e ON e.id = d.event_id
 WHERE d.secret = $1 AND d.revoked_at IS NULL
   AND clock_timestamp() < greatest(e.starts_at + interval '3 days', d.created_at + interval '1 day')`

// Doorway returns what a link is good for. ErrNoDoor if that is nothing.
func (o *Orders) Doorway(ctx context.Context, secret string) (d Doorway, err error) {
	err = o.db.QueryRow(ctx, doorSQL, seal.Hash(secret)).Scan(&d.id, &d.EventID, &d.Event)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, ErrNoDoor
	}
	if err != nil {
		return d, fmt.Errorf("orders: find a door: %w", err)
	}
	return d, nil
}

// PublicKey is what anybody may check a ticket's code with.
type PublicKey struct {
	ID  int32  `json:"id"`
	Key []byte `json:"key"` // Ed25519, RFC 8032
}

const publicKeysSQL = `SELECT id, seed FROM ticket_key WHERE revoked_at IS NULL ORDER BY id`

// PublicKeys lists the keys that sign valid codes.
func (o *Orders) PublicKeys(ctx context.Context) ([]PublicKey, error) {
	rows, err := o.db.Query(ctx, publicKeysSQL)
	if err != nil {
		return nil, fmt.Errorf("orders: read keys: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k PublicKey, err error) {
		var seed []byte
		if err = row.Scan(&k.ID, &seed); err != nil {
			return k, err
		}
		private, err := o.keys.open(k.ID, seed)
		if err != nil {
			return k, fmt.Errorf("orders: read key %d: %w", k.ID, err)
		}
		k.Key = private.Public().(ed25519.PublicKey)
		return k, nil
	})
}

// Expected is a ticket as a door knows it without a connection.
type Expected struct {
	ID       seats.ID
	Idx      int
	Revoked  bool
	Replaced bool       // as of Ticket
	In       *time.Time // when it was checked in; nil: it was not
	Place    string     // where that was
	Type     string     // as of Ticket
	Proof    string
	Name     string // on the ticket
}

const expectedSQL = `
SELECT t.id, t.idx, t.revoked_at IS NOT NULL, t.moved_to IS NOT NULL, s.scanned_at, coalesce(s.place, ''), coalesce(y.name, ''), coalesce(y.proof, ''), ` + nameOnTicket + `
  FROM ticket t JOIN orders o ON o.id = t.order_id LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted` + typeOfTicket + `
 WHERE t.event_id = $1 ORDER BY t.idx`

// Expected lists every ticket of the door's event.
func (o *Orders) Expected(ctx context.Context, d Doorway) ([]Expected, error) {
	rows, err := o.db.Query(ctx, expectedSQL, d.EventID)
	if err != nil {
		return nil, fmt.Errorf("orders: list tickets: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Expected, err error) {
		return e, row.Scan(&e.ID, &e.Idx, &e.Revoked, &e.Replaced, &e.In, &e.Place, &e.Type, &e.Proof, &e.Name)
	})
}

// What a door says of a code.
const (
	ScanIn      = "in"      // let them in
	ScanAgain   = "again"   // it was checked in before
	ScanRevoked = "revoked" // it was cancelled, or another one took its place
	ScanSelling = "selling" // its seat is offered back, and another person is about to buy it
	ScanForeign = "foreign" // it is for another event
	ScanUnknown = "unknown" // it is not ours
	ScanWhich   = "which"   // an order's code: say which of its tickets
)

// Scan is a code that was looked at.
type Scan struct {
	Key    string    // of this scan; a repeat is the same scan
	Code   string    // a ticket's; or its order's, as people type it
	Ticket seats.ID  // which ticket of the order; the zero ID for the only one that is good
	Place  string    // which entrance
	At     time.Time // when, if that was offline; the zero time for now
}

// Verdict is what a door says.
type Verdict struct {
	Word    string
	Ticket  Ticket
	Name    string    // on the ticket; of the buyer, for ScanWhich
	At      time.Time // of the first scan
	Place   string    // of the first scan
	Choices []Ticket  // of the order, for ScanWhich
}

// Scan judges a code and lets its ticket in, once: the first scan that arrives is the one. Every scan of a ticket of ours
// is kept. A repeat with its key gets the first answer; a *seats.Conflict if its content is another.
func (o *Orders) Scan(ctx context.Context, d Doorway, s Scan) (Verdict, error) {
	if s.Key == "" || len(s.Key) > 200 {
		return Verdict{}, idempotency.ErrNoKey
	}
	s.Place = string([]rune(strings.ToValidUTF8(s.Place, ""))[:min(60, len([]rune(strings.ToValidUTF8(s.Place, ""))))])
	v, event, err := o.look(ctx, s)
	switch {
	case errors.Is(err, ErrNoTicket), errors.Is(err, ErrNoOrder):
		return Verdict{Word: ScanUnknown}, nil
	case err != nil:
		return v, err
	case event != d.Event:
		return Verdict{Word: ScanForeign}, nil
	case v.Word == ScanWhich:
		return v, nil
	case v.Ticket.Revoked:
		v.Word = ScanRevoked
		return v, nil
	case v.Ticket.OfferedBack:
		if v.Word, err = o.takeBackAtDoor(ctx, v.Ticket); err != nil || v.Word != "" {
			return v, err
		}
	}
	return o.admit(ctx, d, s, v)
}

const holderNameSQL = `SELECT ` + nameOnTicket + ` FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = $1`

// look finds the ticket that a code is for.
func (o *Orders) look(ctx context.Context, s Scan) (v Verdict, event string, err error) {
	code := typed(s.Code)
	if len(code) == len(seal.NewCode()) {
		return o.lookOrder(ctx, code, s.Ticket)
	}
	v.Ticket, event, err = o.Check(ctx, code)
	if err == nil {
		err = o.db.QueryRow(ctx, holderNameSQL, v.Ticket.ID).Scan(&v.Name)
	}
	return v, event, err
}

// lookOrder is for a code that was typed: an order's is short enough for that.
func (o *Orders) lookOrder(ctx context.Context, code string, ticket seats.ID) (v Verdict, event string, err error) {
	order, err := o.Find(ctx, code)
	if errors.Is(err, ErrNoOrder) {
		order, err = o.ReceivedTicket(ctx, code)
	}
	if err != nil {
		return v, "", err
	}
	v.Name = order.Name
	of := slices.DeleteFunc(order.Tickets, func(t Ticket) bool { return t.Friend != nil })
	if ticket != (seats.ID{}) {
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.ID != ticket })
	} else if len(of) > 1 { // some may be cancelled, or have another one in their place
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.Revoked })
	}
	switch {
	case len(of) == 1:
		v.Ticket, v.Name = of[0], order.NameOn(of[0])
	case ticket != (seats.ID{}):
		return v, "", ErrNoTicket
	default:
		v.Word, v.Choices = ScanWhich, of
	}
	return v, order.Event, nil
}

// typed is a code as people type it: small letters, spaces and dashes, letters that look like digits.
func typed(code string) string {
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(code)))
}

// The guard: one scan of a ticket admits. A ticket that was revoked in between does not pass, nor one that is being
// cancelled in this moment. The time a device says lies within the life of its door.
const admitSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted)
SELECT $1, $2, t.id, $4, $5, least(greatest(coalesce($6::timestamptz, clock_timestamp()), (SELECT created_at FROM door WHERE id = $2)), clock_timestamp()), true
  FROM (SELECT id FROM ticket WHERE id = $3 AND revoked_at IS NULL AND resale_id IS NULL AND (leaving_until IS NULL OR leaving_until < clock_timestamp()) FOR NO KEY UPDATE) t
    ON CONFLICT DO NOTHING`

const scannedSQL = `SELECT ticket_id, admitted, scanned_at, place FROM scan WHERE event_id = $1 AND key = $2`

const firstScanSQL = `SELECT scanned_at, place FROM scan WHERE ticket_id = $1 AND admitted`

const againSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted)
VALUES ($1, $2, $3, $4, $5, least(greatest(coalesce($6::timestamptz, clock_timestamp()), (SELECT created_at FROM door WHERE id = $2)), clock_timestamp()), false)
    ON CONFLICT DO NOTHING`

func (o *Orders) admit(ctx context.Context, d Doorway, s Scan, v Verdict) (Verdict, error) {
	var at *time.Time
	if !s.At.IsZero() {
		at = &s.At
	}
	args := []any{d.EventID, d.id, v.Ticket.ID, s.Key, s.Place, at}
	if _, err := o.db.Exec(ctx, admitSQL, args...); err != nil {
		return v, fmt.Errorf("orders: let in: %w", err)
	}
	var ticket seats.ID
	var admitted bool
	err := o.db.QueryRow(ctx, scannedSQL, d.EventID, s.Key).Scan(&ticket, &admitted, &v.At, &v.Place)
	switch {
	case err == nil && ticket != v.Ticket.ID:
		return v, &seats.Conflict{Code: CodeKey, Message: text.Mark("This scan was sent before for another ticket. It let no visitor in. Scan the ticket again.")}
	case err == nil && admitted:
		v.Word = ScanIn
		o.happened()
		return v, nil
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return v, fmt.Errorf("orders: look for a scan: %w", err)
	}
	if _, err := o.db.Exec(ctx, againSQL, args...); err != nil {
		return v, fmt.Errorf("orders: note a scan: %w", err)
	}
	v.Word = ScanAgain
	err = o.db.QueryRow(ctx, firstScanSQL, v.Ticket.ID).Scan(&v.At, &v.Place)
	if errors.Is(err, pgx.ErrNoRows) {
		v.Word = ScanRevoked // in the moment in which it was scanned
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("orders: look for the first scan: %w", err)
	}
	return v, nil
}

// Turnout is who came to an event so far, and the links by which tickets are looked at.
type Turnout struct {
	Tickets, Came int // valid ones, and those that were checked in
	Links         []DoorLink
}

// Open is how many links let people in.
func (t Turnout) Open() (n int) {
	for _, l := range t.Links {
		if l.ClosedAt == nil {
			n++
		}
	}
	return n
}

// DoorLink is a link for those who let people in; its secret is not known any more.
type DoorLink struct {
	OpenedAt time.Time
	ClosedAt *time.Time // nil: it opens the door
	Admitted int        // people let in by it
	LastAt   *time.Time // when it was used last; nil: never
	Place    string     // the entrance it was used at last
}

const turnoutSQL = `
SELECT count(*), count(s.id) FROM ticket t LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
 WHERE t.event_id = $1 AND t.revoked_at IS NULL`

const doorLinksSQL = `
SELECT d.created_at, d.revoked_at, (SELECT count(*) FROM scan s WHERE s.door_id = d.id AND s.admitted), last.received_at, coalesce(last.place, '')
  FROM (SELECT * FROM door WHERE event_id = $1 ORDER BY id DESC LIMIT 50) d
  LEFT JOIN LATERAL (SELECT received_at, place FROM scan s WHERE s.door_id = d.id ORDER BY received_at DESC LIMIT 1) last ON true
 ORDER BY d.id DESC`

// Turnout tells who came to an event so far, and by which links, the newest of them first, 50 at most.
func (o *Orders) Turnout(ctx context.Context, event int64) (t Turnout, err error) {
	if err := o.db.QueryRow(ctx, turnoutSQL, event).Scan(&t.Tickets, &t.Came); err != nil {
		return t, fmt.Errorf("orders: count who came: %w", err)
	}
	rows, _ := o.db.Query(ctx, doorLinksSQL, event) // CollectRows has its error
	t.Links, err = pgx.CollectRows(rows, pgx.RowToStructByPos[DoorLink])
	if err != nil {
		return t, fmt.Errorf("orders: list doors: %w", err)
	}
	return t, nil
}
