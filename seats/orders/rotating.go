package orders

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// A rotating code is a ticket's code with letters behind it that hold for a moment, against pictures and printouts that are sold to many.
// The letters are made of the time and of a key of the ticket, which its page has and a picture of it does not show. Devices at the door
// have the keys as well, so they check them without a connection.
const (
	// RotationStep is how long a rotating code is shown.
	RotationStep = 15 * time.Second

	// rotationSlack is how many steps a code may be older or newer than the clock of the door.
	rotationSlack = 2

	rotationLetters  = 5 // 25 bits: with the code, just what a QR code of version 6 takes at level M
	rotationKeyBytes = 16
)

// rotates holds for tickets of orders o, of events e, which need a rotating code. What the box office sold or posts is on paper.
const rotates = `(e.rotating_codes AND NOT e.online AND NOT o.at_office AND o.post_to IS NULL AND o.posted_at IS NULL)`

// rotation returns the key of a ticket's rotating code, made of the secret of the key that signs its code. A ticket that is sent to a friend
// is another ticket, so the sender's page has no key of it.
func (k key) rotation(event int64, ticket seats.ID) []byte {
	mac := hmac.New(sha256.New, k.private.Seed())
	mac.Write([]byte("usher/rotating/v1")) // never fails, nor do the others
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(event)))
	mac.Write(ticket[:])
	return mac.Sum(nil)[:rotationKeyBytes]
}

// stepOf numbers the steps since 1970.
func stepOf(at time.Time) int64 { return at.Unix() / int64(RotationStep/time.Second) }

// lettersOf are what stands behind a ticket's code in a step.
func lettersOf(rotation []byte, step int64) string {
	mac := hmac.New(sha256.New, rotation)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step))) // never fails
	return seal.Letters.EncodeToString(mac.Sum(nil)[:4])[:rotationLetters]
}

// CodeAt is what the door reads at a moment; Code if that does not rotate.
func (t Ticket) CodeAt(at time.Time) string {
	if t.Code == "" || t.Rotation == nil {
		return t.Code
	}
	return t.Code + lettersOf(t.Rotation, stepOf(at))
}

// codeLetters is how long a ticket's code is.
var codeLetters = seal.Letters.EncodedLen(codeBytes)

// cutRotating returns a ticket's code, and the letters of the moment behind it; empty if there are none.
func cutRotating(code string) (ticket, letters string) {
	if len(code) != codeLetters+rotationLetters {
		return code, ""
	}
	return code[:codeLetters], code[codeLetters:]
}

// A device that was offline says when it scanned; that is not later than now.
const rotatesSQL = `
SELECT ` + rotates + `, least(coalesce($2::timestamptz, clock_timestamp()), clock_timestamp())
  FROM ticket t JOIN event e ON e.id = t.event_id JOIN orders o ON o.id = t.order_id WHERE t.id = $1`

// isStill reports whether a scan shows a picture of a ticket: its code rotates, and this is not that of the moment of the scan. People
// leave with any code. The code of an order is no ticket's: staff choose which of its tickets they mean. A repeat gets the first answer.
func (o *Orders) isStill(ctx context.Context, d Doorway, s Scan, v Verdict) (bool, error) {
	code, letters := cutRotating(typed(s.Code))
	c, ok := read(code)
	if !ok || s.Out || !d.rotates {
		return false, nil
	}
	var at *time.Time
	if !s.At.IsZero() {
		at = &s.At
	}
	var rotating bool
	var now time.Time
	if err := o.db.QueryRow(ctx, rotatesSQL, c.ticket, at).Scan(&rotating, &now); err != nil {
		return false, fmt.Errorf("orders: look whether a code rotates: %w", err)
	}
	if !rotating {
		return false, nil
	}
	private, err := o.keys.private(ctx, c.key)
	if err != nil {
		return false, err
	}
	if private != nil && isOfMoment(key{c.key, private}.rotation(c.event, c.ticket), letters, now) {
		return false, nil
	}
	first := Verdict{Ticket: v.Ticket}
	said, err := o.answered(ctx, d, s, &first)
	return err == nil && (!said || first.Word == ScanStill), err
}

// isOfMoment reports whether letters are those of a step around a moment.
func isOfMoment(rotation []byte, letters string, at time.Time) bool {
	for step := stepOf(at) - rotationSlack; step <= stepOf(at)+rotationSlack; step++ {
		if hmac.Equal([]byte(lettersOf(rotation, step)), []byte(letters)) {
			return true
		}
	}
	return false
}
