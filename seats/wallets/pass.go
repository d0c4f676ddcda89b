package wallets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/seal"
)

// Wallets makes passes. One is enough for a node.
type Wallets struct {
	Apple  *Apple  // nil: no passes for Apple Wallet
	Google *Google // nil: no links to Google Wallet

	db   seats.DB
	push *jobs.Job
}

// New returns the wallets of a database, which make nothing until Apple or Google is set.
func New(db seats.DB) *Wallets {
	w := &Wallets{db: db}
	w.push = jobs.New("tell phones of changed passes", duePushesSQL, w.tell)
	w.push.AtOnce = 8
	return w
}

// Pass is what a ticket says in a wallet, in the language of its holder.
type Pass struct {
	Serial   seats.ID
	Token    string // by which phones ask for a newer one
	Service  string // https address of the web service; empty: phones do not ask
	Language string // a tag of BCP 47

	Event    int64
	Name     string // of the event
	Team     string // who gives the tickets out
	StartsAt time.Time
	DoorsAt  time.Time // zero: not said
	Venue    string    // empty if it has none
	Address  string    // of the venue; may be empty

	When, Doors, Place Field   // in words; Doors and Place may be empty
	Seat               []Field // section, row and seat; the gate
	Type               Field   // of the ticket
	Holder             Field
	Back               []Field // the small print
	Number             string  // of the order
	Ticket             seats.ID
	Code               string // what the door reads; empty if the ticket is not valid
	Void               string // why it is not valid; empty: it is

	Ground, Words [3]uint8 // the colours of the pass and of what is written on it
	Pictures      []File   // icon, logo and thumbnail
}

// Field is a word with a small one above it.
type Field struct{ Key, Label, Words string }

// File is one of the files of a pass.
type File struct {
	Name    string
	Content []byte
}

// ErrNoPass is a serial number that no pass has, or a token that is not that of its pass.
var ErrNoPass = errors.New("there is no such pass")

// Holding says who has a pass, and what it is for now.
type Holding struct {
	Code     string // of the order, or of the friend's ticket
	Received bool   // a ticket that was sent to a friend
	Ticket   seats.ID

	Serial seats.ID

	first, transfer, order seats.ID
	event                  int64
}

// The end of the line of tickets that a pass begins with. A ticket that moved leads to the next one.
const lastTicket = `
LATERAL (WITH RECURSIVE line AS (
           SELECT id, moved_to, revoked_at, idx, name FROM ticket WHERE id = d.ticket_id
            UNION ALL
           SELECT t.id, t.moved_to, t.revoked_at, t.idx, t.name FROM line l JOIN ticket t ON t.id = l.moved_to)
         SELECT id, revoked_at, idx, name FROM line WHERE moved_to IS NULL) t`

const holdingSQL = `
SELECT d.code, d.transfer_id IS NOT NULL, t.id, d.ticket_id, d.transfer_id, d.order_id, d.event_id
  FROM (SELECT f.ticket_code AS code, f.id AS transfer_id, f.ticket_id, f.order_id, f.event_id FROM ticket_transfer f WHERE f.id = $1 AND f.accepted_at IS NOT NULL
         UNION ALL
        SELECT o.code, NULL, t.id, o.id, o.event_id FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = $1) d, ` + lastTicket

// Find returns the holder of the pass with a serial number, if token is the one that the pass has. ErrNoPass otherwise.
func (w *Wallets) Find(ctx context.Context, serial, token string) (h Holding, err error) {
	if h.Serial, err = seats.ParseID(serial); err != nil {
		return h, ErrNoPass
	}
	err = w.db.QueryRow(ctx, holdingSQL, h.Serial).Scan(&h.Code, &h.Received, &h.Ticket, &h.first, &h.transfer, &h.order, &h.event)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, ErrNoPass
	}
	if err != nil {
		return h, fmt.Errorf("wallets: find a pass: %w", err)
	}
	if !hmac.Equal([]byte(token), []byte(Token(h.Code, h.Serial))) { // in constant time
		return Holding{}, ErrNoPass
	}
	return h, nil
}

// Token is what phones show to get a newer pass: made of the secret code of its order or sent ticket, which it does not tell.
func Token(code string, serial seats.ID) string {
	mac := hmac.New(sha256.New, []byte(code))
	mac.Write([]byte("wallet pass " + serial.String())) // never fails
	return seal.Letters.EncodeToString(mac.Sum(nil))
}

const firstTicketSQL = `
WITH RECURSIVE line AS (
    SELECT $1::uuid AS id
     UNION ALL
    SELECT t.id FROM line l JOIN ticket t ON t.moved_to = l.id
)
SELECT id FROM line WHERE NOT EXISTS (SELECT FROM ticket WHERE moved_to = line.id)`

// SerialOf returns the serial number of the pass of a buyer for their ticket. That of a friend is the id of the transfer.
func (w *Wallets) SerialOf(ctx context.Context, ticket seats.ID) (serial seats.ID, err error) {
	if err := w.db.QueryRow(ctx, firstTicketSQL, ticket).Scan(&serial); err != nil {
		return serial, fmt.Errorf("wallets: find the first ticket of a seat: %w", err)
	}
	return serial, nil
}
