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
	Device
	Reentry bool // of the event

	gates   []seats.Gate // of the event
	rotates bool         // codes of the event's tickets do
}

// Device is a phone or a scanner that has a link of its own.
type Device struct {
	Name string // empty: none
	Gate string // that it stands at; empty: it admits tickets of all gates
}

const openDoorSQL = `INSERT INTO door (event_id, secret, name, gate) SELECT id, $2, $3, $4 FROM event WHERE slug = $1`

// OpenDoor makes a link for an event, and commits also with it. The secret is in the link and nowhere else.
// seats.ErrNoEvent if there is no such event.
func (o *Orders) OpenDoor(ctx context.Context, event string, also seats.TxHook) (secret string, err error) {
	return o.OpenDoorFor(ctx, event, Device{}, also)
}

// OpenDoorFor is OpenDoor for a device with a name, a gate, or both. *seats.ValidationError if the name is longer than a line of 60
// characters.
func (o *Orders) OpenDoorFor(ctx context.Context, event string, d Device, also seats.TxHook) (secret string, err error) {
	if d.Name = strings.TrimSpace(d.Name); !seats.OneLine(d.Name, mostPlace) {
		return "", &seats.ValidationError{Message: text.Mark("The name of a device is one line of at most 60 characters. No link was made.")}
	}
	secret = seal.NewCode()
	opened, err := o.execAnd(ctx, also, openDoorSQL, event, seal.Hash(secret), d.Name, d.Gate)
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

const closeDoorSQL = `UPDATE door SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE event_id = $1 AND id = $2`

// CloseDoor revokes one link of an event, and commits also with it. The others stay as they are, and so does one that was revoked
// before. ErrNoDoor if the event has no such link.
func (o *Orders) CloseDoor(ctx context.Context, event, door int64, also seats.TxHook) error {
	there, err := o.execAnd(ctx, also, closeDoorSQL, event, door)
	if err != nil {
		return fmt.Errorf("orders: close a door: %w", err)
	}
	if !there {
		return ErrNoDoor
	}
	return nil
}

// A link ends three days after its event began, or a day after it was made if that is later.
const doorSQL = `
SELECT d.id, e.id, e.slug, d.name, d.gate, e.gates, e.reentry, e.rotating_codes FROM door d JOIN event e ON e.id = d.event_id
 WHERE d.secret = $1 AND d.revoked_at IS NULL
   AND clock_timestamp() < greatest(e.starts_at + interval '3 days', d.created_at + interval '1 day')`

// Doorway returns what a link is good for. ErrNoDoor if that is nothing.
func (o *Orders) Doorway(ctx context.Context, secret string) (d Doorway, err error) {
	err = o.db.QueryRow(ctx, doorSQL, seal.Hash(secret)).Scan(&d.id, &d.EventID, &d.Event, &d.Name, &d.Gate, &d.gates, &d.Reentry, &d.rotates)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, ErrNoDoor
	}
	if err != nil {
		return d, fmt.Errorf("orders: find a door: %w", err)
	}
	return d, nil
}

// elsewhere returns the gates of a section if the device stands at none of them; else nothing. A gate that the event has no more is
// as good as none.
func (d Doorway) elsewhere(section string) []string {
	e := seats.Event{Gates: d.gates}
	names := e.GatesOf(section)
	if !e.HasGate(d.Gate) || slices.Contains(names, d.Gate) {
		return nil
	}
	return names
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
	By       string     // the device
	Out      bool       // it went out after that
	Type     string     // as of Ticket
	Proof    string
	Name     string   // on the ticket
	Gates    []string // that it is good for, if the door's is none of them
	Rotation []byte   // as of Ticket
}

// The scans of each ticket are read once, by index: devices ask often. A join with the scans of the whole event gets slow with the square of
// the tickets if PostgreSQL takes them for few.
const expectedSQL = `
SELECT t.id, t.idx, t.revoked_at IS NOT NULL, t.moved_to IS NOT NULL, s.scanned_at, coalesce(s.place, ''), coalesce(b.name, ''), coalesce(s.out, false), c.name,
       coalesce(y.name, ''), coalesce(y.proof, ''), ` + nameOnTicket + `, ` + rotates + `
  FROM ticket t JOIN orders o ON o.id = t.order_id JOIN event e ON e.id = t.event_id JOIN seat g ON g.event_id = t.event_id AND g.idx = t.idx JOIN section c ON c.event_id = t.event_id AND c.number = g.section
  LEFT JOIN LATERAL (SELECT scanned_at, place, door_id, out
                       FROM (SELECT id, way, scanned_at, place, door_id, first_value(way) OVER (ORDER BY scanned_at DESC, id DESC) = 'out' AS out
                               FROM scan s WHERE event_id = $1 AND ticket_id = t.id AND ` + passed + `) p
                      WHERE way = 'in' ORDER BY scanned_at DESC, id DESC LIMIT 1) s ON true
  LEFT JOIN door b ON b.id = s.door_id` + typeOfTicket + `
 WHERE t.event_id = $1 ORDER BY t.idx`

// Expected lists every ticket of the door's event, and notes that the device was there.
func (o *Orders) Expected(ctx context.Context, d Doorway) ([]Expected, error) {
	if err := o.seen(ctx, d); err != nil {
		return nil, err
	}
	signing, err := o.keys.signing(ctx)
	if err != nil {
		return nil, fmt.Errorf("orders: list tickets: %w", err)
	}
	rows, err := o.db.Query(ctx, expectedSQL, d.EventID)
	if err != nil {
		return nil, fmt.Errorf("orders: list tickets: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Expected, err error) {
		var section string
		var rotating bool
		err = row.Scan(&e.ID, &e.Idx, &e.Revoked, &e.Replaced, &e.In, &e.Place, &e.By, &e.Out, &section, &e.Type, &e.Proof, &e.Name, &rotating)
		if rotating && !e.Revoked {
			e.Rotation = signing.rotation(d.EventID, e.ID)
		}
		e.Gates = d.elsewhere(section)
		return e, err
	})
}

// What a door says of a code.
const (
	ScanIn      = "in"      // let them in
	ScanAgain   = "again"   // it was checked in before, and is inside as far as is known
	ScanOut     = "out"     // it went out
	ScanOutside = "outside" // it went out, and was not inside as far as is known
	ScanGate    = "gate"    // it is good for other gates
	ScanRevoked = "revoked" // it was cancelled, or another one took its place
	ScanSelling = "selling" // its seat is offered back, and another person is about to buy it
	ScanStill   = "still"   // its code rotates, and this is a picture of it, or a printout
	ScanForeign = "foreign" // it is for another event
	ScanUnknown = "unknown" // it is not ours
	ScanWhich   = "which"   // an order's code: say which of its tickets
)

// Scan is a code that was looked at.
type Scan struct {
	Key    string    // of this scan; a repeat is the same scan
	Code   string    // a ticket's; or its order's, as people type it
	Ticket seats.ID  // which ticket of the order; the zero ID for the only one that is good, unless its code rotates
	Place  string    // which entrance
	Out    bool      // they leave
	At     time.Time // when, if that was offline, and the device let them pass by itself; the zero time for now
}

// Verdict is what a door says.
type Verdict struct {
	Word    string
	Ticket  Ticket
	Name    string    // on the ticket; of the buyer, for ScanWhich
	At      time.Time // of the scan that let it in, or out
	Place   string    // of that scan
	By      string    // the device of that scan; empty: it has no name
	Gates   []string  // for ScanGate: those that it is good for
	Other   *Other    // for ScanForeign: the event that it is for; nil: of another team
	Choices []Ticket  // of the order, for ScanWhich
}

// Other is another event of the same team that a ticket is for.
type Other struct {
	Name     string
	StartsAt time.Time
}

// mostPlace is how many characters name an entrance or a device.
const mostPlace = 60

// Scan judges a code and lets its ticket in, once: the first scan that arrives is the one. Every scan of a ticket of ours that is
// valid is kept, and each that let people pass while the device was offline. Where the event has re-entry, a ticket that went out
// comes in again. A repeat with its key gets the first answer; a *seats.Conflict if its content is another.
//
// A device that was offline has let people pass before this is called: its scans are judged as all others, but for the gate, and kept
// also if they are refused. Conflicts lists what came of that.
func (o *Orders) Scan(ctx context.Context, d Doorway, s Scan) (Verdict, error) {
	if s.Key == "" || len(s.Key) > 200 {
		return Verdict{}, idempotency.ErrNoKey
	}
	place := []rune(strings.ToValidUTF8(s.Place, ""))
	s.Place = string(place[:min(mostPlace, len(place))])
	v, event, err := o.look(ctx, s)
	switch {
	case errors.Is(err, ErrNoTicket), errors.Is(err, ErrNoOrder):
		return Verdict{Word: ScanUnknown}, nil
	case err != nil:
		return v, err
	case event != d.Event:
		return o.foreign(ctx, d, event)
	case v.Word == ScanWhich:
		return v, nil
	}
	if s.Key, err = o.keyOf(ctx, d, s, v.Ticket); err != nil {
		return v, err
	}
	if v.Ticket.Revoked {
		v.Word = ScanRevoked
		return v, o.noteVoid(ctx, d, s, v)
	}
	if still, err := o.isStill(ctx, d, s, v); err != nil || still {
		if v.Word = ScanStill; err == nil {
			err = o.noteVoid(ctx, d, s, v)
		}
		return v, err
	}
	if v.Gates, err = o.otherGates(ctx, d, s, v.Ticket); err != nil || len(v.Gates) > 0 {
		v.Word = ScanGate
		return v, err
	}
	if v.Ticket.OfferedBack {
		if v.Word, err = o.takeBackAtDoor(ctx, v.Ticket); err != nil || v.Word != "" {
			return v, err
		}
	}
	return o.admit(ctx, d, s, v)
}

const otherEventSQL = `SELECT o.name, o.starts_at FROM event o JOIN event e ON e.team_id = o.team_id WHERE o.slug = $1 AND e.id = $2`

// foreign is the verdict of a ticket for another event: which one that is, if it is of the same team.
func (o *Orders) foreign(ctx context.Context, d Doorway, event string) (Verdict, error) {
	v, other := Verdict{Word: ScanForeign}, Other{}
	err := o.db.QueryRow(ctx, otherEventSQL, event, d.EventID).Scan(&other.Name, &other.StartsAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("orders: name the event of a ticket: %w", err)
	}
	v.Other = &other
	return v, nil
}

const sectionOfTicketSQL = `
SELECT c.name FROM ticket t JOIN seat g ON g.event_id = t.event_id AND g.idx = t.idx JOIN section c ON c.event_id = t.event_id AND c.number = g.section WHERE t.id = $1`

// otherGates returns the gates that a ticket has to go to; none if it may pass here. People leave by any gate, and those who were let in
// offline are inside.
func (o *Orders) otherGates(ctx context.Context, d Doorway, s Scan, t Ticket) ([]string, error) {
	if d.Gate == "" || s.Out || !s.At.IsZero() {
		return nil, nil
	}
	var section string
	if err := o.db.QueryRow(ctx, sectionOfTicketSQL, t.ID).Scan(&section); err != nil {
		return nil, fmt.Errorf("orders: read the section of a ticket: %w", err)
	}
	return d.elsewhere(section), nil
}

const holderNameSQL = `SELECT ` + nameOnTicket + ` FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = $1`

// look finds the ticket that a code is for.
func (o *Orders) look(ctx context.Context, s Scan) (v Verdict, event string, err error) {
	code, _ := cutRotating(typed(s.Code))
	if len(code) == len(seal.NewCode()) {
		return o.lookOrder(ctx, code, s)
	}
	v.Ticket, event, err = o.Check(ctx, code)
	if err == nil {
		err = o.db.QueryRow(ctx, holderNameSQL, v.Ticket.ID).Scan(&v.Name)
	}
	return v, event, err
}

// lookOrder is for a code that was typed: an order's is short enough for that. It may come from a picture as well, so a ticket
// with a rotating code is chosen by staff, also if it is the only one. People leave without a question.
func (o *Orders) lookOrder(ctx context.Context, code string, s Scan) (v Verdict, event string, err error) {
	order, err := o.Find(ctx, code)
	if errors.Is(err, ErrNoOrder) {
		order, err = o.ReceivedTicket(ctx, code)
	}
	if err != nil {
		return v, "", err
	}
	v.Name = order.Name
	of := slices.DeleteFunc(order.Tickets, func(t Ticket) bool { return t.Friend != nil })
	chosen := s.Ticket != (seats.ID{})
	if chosen {
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.ID != s.Ticket })
	} else if len(of) > 1 { // some may be cancelled, or have another one in their place
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.Revoked })
	}
	switch {
	case len(of) == 1 && (chosen || s.Out || of[0].Rotation == nil):
		v.Ticket, v.Name = of[0], order.NameOn(of[0])
	case chosen:
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
// cancelled in this moment. The time a device says is not before the first door of the event was opened: what a closed link could not send
// any more is sent by another one.
const admitSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted, said, offline)
SELECT $1, $2, t.id, $4, $5, ` + scanTime + `, true, 'in', $6::timestamptz IS NOT NULL
  FROM (SELECT id FROM ticket WHERE id = $3 AND revoked_at IS NULL AND resale_id IS NULL AND (leaving_until IS NULL OR leaving_until < clock_timestamp()) FOR NO KEY UPDATE) t
    ON CONFLICT DO NOTHING`

const scanTime = `least(greatest(coalesce($6::timestamptz, clock_timestamp()), (SELECT min(created_at) FROM door WHERE event_id = $1)), clock_timestamp())`

const scannedSQL = `
SELECT s.ticket_id, coalesce(s.said, CASE WHEN s.admitted THEN 'in' ELSE 'again' END), s.scanned_at, s.place, coalesce(d.name, '')
  FROM scan s LEFT JOIN door d ON d.id = s.door_id WHERE s.event_id = $1 AND s.key = $2`

// The scan that a ticket is inside by; another one than that with the key.
const insideBySQL = `
SELECT s.scanned_at, s.place, coalesce(d.name, '') FROM scan s LEFT JOIN door d ON d.id = s.door_id
 WHERE s.ticket_id = $1 AND s.way = 'in' AND s.key <> $2 AND ` + passed + `
 ORDER BY NOT (s.admitted OR s.said = 'in'), s.scanned_at DESC, s.id DESC LIMIT 1`

func (o *Orders) admit(ctx context.Context, d Doorway, s Scan, v Verdict) (Verdict, error) {
	var at *time.Time
	if !s.At.IsZero() {
		at = &s.At
	}
	args := []any{d.EventID, d.id, v.Ticket.ID, s.Key, s.Place, at}
	if !s.Out {
		if _, err := o.db.Exec(ctx, admitSQL, args...); err != nil {
			return v, fmt.Errorf("orders: let in: %w", err)
		}
	}
	said, err := o.answered(ctx, d, s, &v)
	if err == nil && !said {
		if v.Word, err = o.pass(ctx, d, s, v.Ticket.ID, args); err == nil {
			_, err = o.answered(ctx, d, s, &v)
		}
	}
	switch {
	case err != nil:
		return v, err
	case v.Word == ScanIn, v.Word == ScanOut:
		o.happened()
		return v, nil
	case v.Word != ScanAgain:
		return v, nil
	}
	err = o.db.QueryRow(ctx, insideBySQL, v.Ticket.ID, s.Key).Scan(&v.At, &v.Place, &v.By)
	if errors.Is(err, pgx.ErrNoRows) {
		v.Word = ScanRevoked // in the moment in which it was scanned
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("orders: look for the first scan: %w", err)
	}
	return v, nil
}

// answered reads what was said to the scan with this key, and reports whether anything was.
func (o *Orders) answered(ctx context.Context, d Doorway, s Scan, v *Verdict) (bool, error) {
	var ticket seats.ID
	var word string
	err := o.db.QueryRow(ctx, scannedSQL, d.EventID, s.Key).Scan(&ticket, &word, &v.At, &v.Place, &v.By)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("orders: look for a scan: %w", err)
	case ticket != v.Ticket.ID:
		return true, &seats.Conflict{Code: CodeKey, Message: text.Mark("This scan was sent before for another ticket. It let no visitor in. Scan the ticket again.")}
	}
	v.Word = word
	return true, nil
}

// Turnout is who came to an event so far, and the links by which tickets are looked at.
type Turnout struct {
	Tickets, Came int // valid ones, and those that were checked in
	Inside        int // of those that came: the ones that did not go out since
	Links         []DoorLink
	Conflicts     []DoorConflict // that devices made while they were offline
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
	ID int64
	Device
	OpenedAt time.Time
	ClosedAt *time.Time // nil: it opens the door
	Scans    int        // kept: of valid tickets
	Admitted int        // people let in by it, for the first time
	LastAt   *time.Time // when it was used last; nil: never
	SeenAt   *time.Time // when its page last asked for the tickets; nil: never
	Place    string     // the entrance it was used at last
}

const turnoutSQL = `
SELECT count(*), count(s.id), count(*) FILTER (WHERE l.way = 'in') FROM ticket t LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
  LEFT JOIN (SELECT DISTINCT ON (ticket_id) ticket_id, way FROM scan s WHERE event_id = $1 AND ` + passed + ` ORDER BY ticket_id, scanned_at DESC, id DESC) l ON l.ticket_id = t.id
 WHERE t.event_id = $1 AND t.revoked_at IS NULL`

const doorLinksSQL = `
SELECT d.id, d.name, d.gate, d.created_at, d.revoked_at, scans.all, scans.admitted, last.received_at, d.seen_at, coalesce(last.place, '')
  FROM (SELECT * FROM door WHERE event_id = $1 ORDER BY id DESC LIMIT 50) d
  CROSS JOIN LATERAL (SELECT count(*) AS all, count(*) FILTER (WHERE admitted) AS admitted FROM scan s WHERE s.door_id = d.id) scans
  LEFT JOIN LATERAL (SELECT received_at, place FROM scan s WHERE s.door_id = d.id ORDER BY received_at DESC LIMIT 1) last ON true
 ORDER BY d.id DESC`

// Turnout tells who came to an event so far, and by which links, the newest of them first, 50 at most.
func (o *Orders) Turnout(ctx context.Context, event int64) (t Turnout, err error) {
	if err := o.db.QueryRow(ctx, turnoutSQL, event).Scan(&t.Tickets, &t.Came, &t.Inside); err != nil {
		return t, fmt.Errorf("orders: count who came: %w", err)
	}
	rows, _ := o.db.Query(ctx, doorLinksSQL, event) // CollectRows has its error
	t.Links, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l DoorLink, err error) {
		return l, row.Scan(&l.ID, &l.Name, &l.Gate, &l.OpenedAt, &l.ClosedAt, &l.Scans, &l.Admitted, &l.LastAt, &l.SeenAt, &l.Place)
	})
	if err != nil {
		return t, fmt.Errorf("orders: list doors: %w", err)
	}
	t.Conflicts, err = o.conflicts(ctx, event)
	return t, err
}
