package waitingroom

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/usherbox/usher/seats"
)

// An event may ask a visitor for the same work before it takes claims of theirs (package limit says when). The challenge
// is bound to the visitor, and so is the pass that they get for it: one proof is worth the seats of one visitor. Neither
// is stored, and any node believes the pass of any other.

const (
	passFor  = 24 * time.Hour
	passSize = 2 + 8 + sha256.Size
)

// ChallengeOf makes work for a visitor of an event.
func (g *Gate) ChallengeOf(ctx context.Context, event int64, visitor seats.ID) (Challenge, error) {
	nonce := make([]byte, 8, 16)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return g.keys.challengeAt(ctx, eventSubject(event), UsualWork, append(nonce, nonceOf(visitor)...), time.Now())
}

// Pass returns the pass of a visitor for their proof, and until when it is good. ErrWork and ErrPatience as Prove.
func (g *Gate) Pass(ctx context.Context, event int64, visitor seats.ID, proof *Proof) (pass string, until time.Time, err error) {
	now := time.Now()
	if err := g.proveAt(ctx, proof, eventSubject(event), UsualWork, now); err != nil {
		return "", until, err
	}
	if !hmac.Equal(proof.Challenge.Parameters.Nonce[8:], nonceOf(visitor)) { // another visitor did it
		return "", until, ErrWork
	}
	k, err := g.keys.signing(ctx)
	if err != nil {
		return "", until, err
	}
	until = now.Add(passFor)
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(nil, k.id), uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, k.pass(b, event, visitor)...)), until, nil
}

// Passes reports whether a pass is one of this visitor for this event.
func (g *Gate) Passes(ctx context.Context, event int64, visitor seats.ID, pass string) (bool, error) {
	b, err := base64.RawURLEncoding.DecodeString(pass)
	if err != nil || len(b) != passSize || int64(binary.BigEndian.Uint64(b[2:])) < time.Now().Unix() {
		return false, nil
	}
	k, err := g.keys.find(ctx, binary.BigEndian.Uint16(b))
	if errors.Is(err, ErrNoPlace) {
		return false, nil
	}
	return err == nil && hmac.Equal(b[10:], k.pass(b[:10], event, visitor)), err
}

func (k key) pass(b []byte, event int64, visitor seats.ID) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte("usher/pass/v1"))
	h.Write(binary.BigEndian.AppendUint64(b[:10:10], uint64(event)))
	h.Write(visitor[:])
	return h.Sum(nil)
}

// eventSubject is no room: their numbers are positive.
func eventSubject(event int64) subject { return subject{id: 1<<63 | uint64(event)} }

// nonceOf is the half of a nonce that tells whose work it is.
func nonceOf(visitor seats.ID) []byte {
	sum := sha256.Sum256(append([]byte("usher/visitor/work/v1"), visitor[:]...))
	return sum[:8]
}
