package waitingroom

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
)

// A room may ask a browser for some work before it joins. That is a brake on programs that join by the thousand, and no wall:
// it makes each place cost about half a second of a processor. Nobody solves a puzzle. The challenge is in the format of ALTCHA
// (version 2, https://altcha.org), whose solver pages use: to find a counter with which PBKDF2 gives a key that begins with a
// prefix. Nothing is stored until somebody joins; then the work is a person, who has one place, on whatever node and however
// often they show it. Whoever cannot work, such as a browser without scripts, waits for a minute instead.
const (
	// UsualWork is what takes a browser about half a second, and a slow phone two.
	UsualWork = 300

	mostWork      = 100_000
	challengeFor  = 10 * time.Minute
	workAlgorithm = "PBKDF2/SHA-256"
	workPrefix    = "000" // of 16³ tries one begins so
	workKey       = 32    // bytes
	longestProof  = 2048
)

// Why somebody cannot join yet.
var (
	ErrWork     = errors.New("this waiting room asks browsers for some work first")
	ErrPatience = errors.New("nobody worked for this, and it did not wait long enough")
)

// Challenge is what a browser is to work on. It is good for ten minutes, in one room.
type Challenge struct {
	Parameters Parameters `json:"parameters"`
	Signature  Hex        `json:"signature"`
}

// Parameters of a challenge have the names of ALTCHA, in the order of the alphabet, in which they are signed.
type Parameters struct {
	Algorithm string `json:"algorithm"`
	Cost      int    `json:"cost"`
	ExpiresAt int64  `json:"expiresAt"` // Unix time
	KeyLength int    `json:"keyLength"`
	KeyPrefix string `json:"keyPrefix"`
	Nonce     Hex    `json:"nonce"`
	Salt      Hex    `json:"salt"` // the key that signed it, the room and its epoch
}

// Solution is what a browser found; without one, somebody waited.
type Solution struct {
	Counter uint32 `json:"counter"`
	Key     Hex    `json:"derivedKey"`
}

// Proof is what somebody shows who joins.
type Proof struct {
	Challenge Challenge `json:"challenge"`
	Solution  *Solution `json:"solution,omitempty"`
}

// Patient tells of somebody who waited and did not work.
func (p *Proof) Patient() bool { return p.Solution == nil }

// String is the proof as forms carry it.
func (p *Proof) String() string {
	text, _ := json.Marshal(p) // texts and numbers always marshal
	return base64.StdEncoding.EncodeToString(text)
}

// ReadProof reads what a form carries. ErrWork if it is nothing.
func ReadProof(text string) (*Proof, error) {
	var p Proof
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || len(b) > longestProof || json.Unmarshal(b, &p) != nil {
		return nil, ErrWork
	}
	return &p, nil
}

// AsksWork tells whether who joins now has to show a proof. While everybody is let through nobody has to, and those who come
// in the moment in which that ends and this node does not know it yet.
func (s *State) AsksWork() bool {
	return s.Work > 0 && s.Entry == EntryBrowser && s.Phase != PhaseThrough && s.Phase != PhaseEnded
}

// Challenge makes work for a browser. It asks nobody once a key is known.
func (r *Room) Challenge(ctx context.Context) (Challenge, error) {
	now, err := r.gate.keys.now(ctx)
	if err != nil {
		return Challenge{}, err
	}
	return r.challengeAt(ctx, now)
}

func (r *Room) challengeAt(ctx context.Context, now time.Time) (Challenge, error) {
	s, nonce := r.state.Load(), make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return r.gate.keys.challengeAt(ctx, subject{uint64(r.ID), s.Epoch}, max(1, s.Work), nonce, now)
}

func (ks *keys) challengeAt(ctx context.Context, of subject, cost int, nonce Hex, now time.Time) (Challenge, error) {
	k, err := ks.signing(ctx)
	if err != nil {
		return Challenge{}, err
	}
	p := Parameters{
		Algorithm: workAlgorithm, Cost: cost, ExpiresAt: now.Add(challengeFor).Unix(), KeyLength: workKey, KeyPrefix: workPrefix,
		Nonce: nonce, Salt: of.salt(k.id),
	}
	return Challenge{p, k.challenge(&p)}, nil
}

// subject is what a challenge is of: an epoch of a room, or an event.
type subject struct {
	id    uint64
	epoch int32
}

func (of subject) salt(key uint16) Hex {
	b := binary.BigEndian.AppendUint16(nil, key)
	b = binary.BigEndian.AppendUint64(b, of.id)
	return binary.BigEndian.AppendUint32(b, uint32(of.epoch))
}

func (k key) challenge(p *Parameters) Hex {
	text, _ := json.Marshal(p) // texts and numbers always marshal
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte("usher/work/v1"))
	h.Write(text)
	return h.Sum(nil)
}

// Prove tells whether a proof lets somebody join. ErrPatience if nobody worked for it and it has not waited long enough;
// ErrWork if it is worth nothing, such as one that is too old.
func (r *Room) Prove(ctx context.Context, p *Proof) error {
	now, err := r.gate.keys.now(ctx)
	if err != nil {
		return err
	}
	return r.proveAt(ctx, p, now)
}

func (r *Room) proveAt(ctx context.Context, proof *Proof, now time.Time) error {
	s := r.state.Load()
	return r.gate.proveAt(ctx, proof, subject{uint64(r.ID), s.Epoch}, s.Work, now)
}

func (g *Gate) proveAt(ctx context.Context, proof *Proof, of subject, cost int, now time.Time) error {
	p := &proof.Challenge.Parameters
	if len(p.Salt) != 14 || len(p.Nonce) != 16 {
		return ErrWork
	}
	id := binary.BigEndian.Uint16(p.Salt)
	k, err := g.keys.find(ctx, id)
	switch {
	case errors.Is(err, ErrNoPlace):
		return ErrWork
	case err != nil:
		return err
	}
	left := time.Unix(p.ExpiresAt, 0).Sub(now)
	switch {
	case !hmac.Equal(k.challenge(p), proof.Challenge.Signature), !bytes.Equal(p.Salt, of.salt(id)), left <= 0:
		return ErrWork
	case proof.Patient() && left > challengeFor-g.Patience:
		return ErrPatience
	case proof.Patient():
		return nil
	case p.Cost < cost: // more is asked for since
		return ErrWork
	}
	return proof.solved()
}

// solved does the last of the tries again.
func (p *Proof) solved() error {
	c := &p.Challenge.Parameters
	password := binary.BigEndian.AppendUint32(bytes.Clone(c.Nonce), p.Solution.Counter)
	found, err := pbkdf2.Key(sha256.New, string(password), c.Salt, c.Cost, c.KeyLength)
	if err != nil {
		return fmt.Errorf("waitingroom: check the work of a browser: %w", err)
	}
	if !hmac.Equal(found, p.Solution.Key) || !strings.HasPrefix(hex.EncodeToString(found), c.KeyPrefix) {
		return ErrWork
	}
	return nil
}

// person names what was worked for. No address has the same name.
func (p *Proof) person() []byte {
	sum := sha256.Sum256(append([]byte("usher/work/v1"), p.Challenge.Parameters.Nonce...))
	return sum[:]
}

// JoinBy is Join, or Again, with a proof that Prove found to be good.
func (r *Room) JoinBy(ctx context.Context, holder seats.ID, token string, proof *Proof) (Place, string, error) {
	by := byWork
	if proof.Patient() {
		by = byPatience
	}
	j := &joiner{holder: holder, person: proof.person(), by: by}
	if token == "" {
		return r.join(ctx, j) // it costs no look at who is inside
	}
	return r.again(ctx, j, token)
}

// An event may ask a visitor for the same work before it takes claims of theirs (package limit says when). The challenge
// is bound to the visitor, and so is the pass that they get for it: one proof is worth the seats of one visitor. Neither
// is stored, and any node believes the pass of any other.

const (
	passFor  = 24 * time.Hour
	passSize = 2 + 8 + sha256.Size
)

// ChallengeOf makes work for a visitor of an event.
func (g *Gate) ChallengeOf(ctx context.Context, event int64, visitor seats.ID) (Challenge, error) {
	now, err := g.keys.now(ctx)
	if err != nil {
		return Challenge{}, err
	}
	nonce := make([]byte, 8, 16)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return g.keys.challengeAt(ctx, eventSubject(event), UsualWork, append(nonce, nonceOf(visitor)...), now)
}

// Pass returns the pass of a visitor for their proof, and until when it is good. ErrWork and ErrPatience as Prove.
func (g *Gate) Pass(ctx context.Context, event int64, visitor seats.ID, proof *Proof) (pass string, until time.Time, err error) {
	now, err := g.keys.now(ctx)
	if err != nil {
		return "", until, err
	}
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
	if err != nil || len(b) != passSize {
		return false, nil
	}
	now, err := g.keys.now(ctx)
	if err != nil || int64(binary.BigEndian.Uint64(b[2:])) < now.Unix() {
		return false, err
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
