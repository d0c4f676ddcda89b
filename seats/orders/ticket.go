package orders

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// A ticket's code is a version, the number of the key, the event, the ticket, and a signature of all that; in 149
// letters and digits.
const (
	codeVersion = 1
	signedBytes = 1 + 4 + 8 + 16
	codeBytes   = signedBytes + ed25519.SignatureSize
)

// sign makes the code of a ticket.
func (k key) sign(event int64, ticket seats.ID) string {
	b := make([]byte, 0, codeBytes)
	b = append(b, codeVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(k.id))
	b = binary.BigEndian.AppendUint64(b, uint64(event))
	b = append(b, ticket[:]...)
	return seal.Letters.EncodeToString(append(b, ed25519.Sign(k.private, b)...))
}

// claimed is what a code says of itself, before anybody believes it.
type claimed struct {
	key       int32
	event     int64
	ticket    seats.ID
	signed    []byte
	signature []byte
}

// read takes a code apart. Only the one way in which it is written is read: no other case, no loose bits at the end.
func read(code string) (c claimed, ok bool) {
	b, err := seal.Letters.DecodeString(code)
	if err != nil || len(b) != codeBytes || b[0] != codeVersion || seal.Letters.EncodeToString(b) != code {
		return c, false
	}
	c.key = int32(binary.BigEndian.Uint32(b[1:]))
	c.event = int64(binary.BigEndian.Uint64(b[5:]))
	copy(c.ticket[:], b[13:])
	c.signed, c.signature = b[:signedBytes], b[signedBytes:]
	return c, true
}

const ticketSQL = `
SELECT t.id, t.idx, t.price, t.revoked_at IS NOT NULL, e.slug
  FROM ticket t JOIN event e ON e.id = t.event_id
 WHERE t.event_id = $1 AND t.id = $2`

// Check returns the ticket a code is for, and its event's slug. ErrNoTicket if the code is not ours, or its key was
// revoked, in one and the same way; a ticket that was revoked itself says so.
func (o *Orders) Check(ctx context.Context, code string) (t Ticket, event string, err error) {
	c, ok := read(code)
	if !ok {
		return Ticket{}, "", ErrNoTicket
	}
	public, err := o.keys.public(ctx, c.key)
	if err != nil {
		return Ticket{}, "", err
	}
	if public == nil || !ed25519.Verify(public, c.signed, c.signature) {
		return Ticket{}, "", ErrNoTicket
	}
	err = o.db.QueryRow(ctx, ticketSQL, c.event, c.ticket).Scan(&t.ID, &t.Idx, &t.Price, &t.Revoked, &event)
	if errors.Is(err, pgx.ErrNoRows) {
		return Ticket{}, "", ErrNoTicket
	}
	if err != nil {
		return Ticket{}, "", fmt.Errorf("orders: check a ticket: %w", err)
	}
	t.Code = code
	return t, event, nil
}
