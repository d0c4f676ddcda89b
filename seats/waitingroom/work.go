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

// A room may ask a browser for a proof of work before it joins. It slows down programs that join by the thousand: each place
// costs about half a second of processor time. Visitors see no puzzle. The challenge has the format of ALTCHA (version 2,
// https://altcha.org), and pages use its solver: it searches a counter with which PBKDF2 gives a key with a certain prefix.
// Nothing is stored until the visitor joins. Then the proof counts as a person, who has one place on all nodes. A browser that
// cannot work, such as one without scripts, waits for a minute instead.
const (
	// UsualWork takes a browser about half a second, and a slow phone two.
	UsualWork = 300

	maxWork       = 100_000
	challengeFor  = 10 * time.Minute
	workAlgorithm = "PBKDF2/SHA-256"
	workPrefix    = "000" // one of 16³ tries has it
	workKey       = 32    // bytes
	longestProof  = 2048
)

// Why a visitor cannot join yet.
var (
	ErrWork     = errors.New("this waiting room needs a proof of work first")
	ErrPatience = errors.New("there is no proof of work, and the visitor did not wait long enough")
)

// Challenge is the task of a proof of work. It is valid for ten minutes, in one room.
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

// Solution is the result of a browser's work.
type Solution struct {
	Counter uint32 `json:"counter"`
	Key     Hex    `json:"derivedKey"`
}

// Proof is a challenge with its solution. Without one the visitor waited instead.
type Proof struct {
	Challenge Challenge `json:"challenge"`
	Solution  *Solution `json:"solution,omitempty"`
}

// Patient reports whether the visitor waited instead of working.
func (p *Proof) Patient() bool { return p.Solution == nil }

// String is the proof as forms carry it.
func (p *Proof) String() string {
	text, _ := json.Marshal(p) // texts and numbers always marshal
	return base64.StdEncoding.EncodeToString(text)
}

// ReadProof reads the proof of a form. ErrWork if there is none.
func ReadProof(text string) (*Proof, error) {
	var p Proof
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || len(b) > longestProof || json.Unmarshal(b, &p) != nil {
		return nil, ErrWork
	}
	return &p, nil
}

// AsksWork reports whether a join needs a proof. While every visitor is let through it does not. Visitors who join just after
// that ends, before this node knows, need none either.
func (s *State) AsksWork() bool {
	return s.Work > 0 && s.Entry == EntryBrowser && s.Phase != PhaseThrough && s.Phase != PhaseEnded
}

// Challenge makes a challenge. Once a key is known it needs no question to the database.
func (r *Room) Challenge(ctx context.Context) (Challenge, error) {
	now, err := r.rooms.keys.now(ctx)
	if err != nil {
		return Challenge{}, err
	}
	return r.challengeAt(ctx, now)
}

func (r *Room) challengeAt(ctx context.Context, now time.Time) (Challenge, error) {
	s, nonce := r.state.Load(), make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return r.rooms.keys.challengeAt(ctx, subject{uint64(r.ID), s.Epoch}, max(1, s.Work), nonce, now)
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

// subject is the epoch of a room, or the event, that a challenge is for.
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

// Prove checks a proof. ErrPatience if it has no solution and the visitor has not waited long enough; ErrWork if it is invalid
// or too old.
func (r *Room) Prove(ctx context.Context, p *Proof) error {
	now, err := r.rooms.keys.now(ctx)
	if err != nil {
		return err
	}
	return r.proveAt(ctx, p, now)
}

func (r *Room) proveAt(ctx context.Context, proof *Proof, now time.Time) error {
	s := r.state.Load()
	return r.rooms.proveAt(ctx, proof, subject{uint64(r.ID), s.Epoch}, s.Work, now)
}

func (rs *Rooms) proveAt(ctx context.Context, proof *Proof, of subject, cost int, now time.Time) error {
	p := &proof.Challenge.Parameters
	if len(p.Salt) != 14 || len(p.Nonce) != 16 {
		return ErrWork
	}
	id := binary.BigEndian.Uint16(p.Salt)
	k, err := rs.keys.find(ctx, id)
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
	case proof.Patient() && left > challengeFor-rs.Patience:
		return ErrPatience
	case proof.Patient():
		return nil
	case p.Cost < cost: // the cost was raised meanwhile
		return ErrWork
	}
	return proof.solved()
}

// solved repeats the successful try.
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

// person is a hash of the challenge. It differs from that of any address.
func (p *Proof) person() []byte {
	sum := sha256.Sum256(append([]byte("usher/work/v1"), p.Challenge.Parameters.Nonce...))
	return sum[:]
}

// JoinBy is Join, or Again, with a proof that Prove accepted.
func (r *Room) JoinBy(ctx context.Context, holder seats.ID, token string, proof *Proof) (Place, string, error) {
	by := byWork
	if proof.Patient() {
		by = byPatience
	}
	j := &joinRequest{holder: holder, person: proof.person(), by: by}
	if token == "" {
		return r.join(ctx, j) // without a query for their slot
	}
	return r.rejoin(ctx, j, token)
}

// An event may ask a visitor for the same work before their claims (package limit decides when). The challenge and the pass
// that the visitor gets for it are bound to them: one proof is worth the seats of one visitor. Neither is stored, and a pass
// is valid on all nodes.

const (
	passFor  = 24 * time.Hour
	passSize = 2 + 8 + sha256.Size
)

// ChallengeOf makes a challenge for a visitor of an event.
func (rs *Rooms) ChallengeOf(ctx context.Context, event int64, visitor seats.ID) (Challenge, error) {
	now, err := rs.keys.now(ctx)
	if err != nil {
		return Challenge{}, err
	}
	nonce := make([]byte, 8, 16)
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return rs.keys.challengeAt(ctx, eventSubject(event), UsualWork, append(nonce, nonceOf(visitor)...), now)
}

// Pass returns the pass of a visitor for their proof, and until when it is valid. ErrWork and ErrPatience as Prove.
func (rs *Rooms) Pass(ctx context.Context, event int64, visitor seats.ID, proof *Proof) (pass string, until time.Time, err error) {
	now, err := rs.keys.now(ctx)
	if err != nil {
		return "", until, err
	}
	if err := rs.proveAt(ctx, proof, eventSubject(event), UsualWork, now); err != nil {
		return "", until, err
	}
	if !hmac.Equal(proof.Challenge.Parameters.Nonce[8:], nonceOf(visitor)) { // the proof of another visitor
		return "", until, ErrWork
	}
	k, err := rs.keys.signing(ctx)
	if err != nil {
		return "", until, err
	}
	until = now.Add(passFor)
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(nil, k.id), uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, k.pass(b, event, visitor)...)), until, nil
}

// Passes reports whether a pass is valid for this visitor and event.
func (rs *Rooms) Passes(ctx context.Context, event int64, visitor seats.ID, pass string) (bool, error) {
	b, err := base64.RawURLEncoding.DecodeString(pass)
	if err != nil || len(b) != passSize {
		return false, nil
	}
	now, err := rs.keys.now(ctx)
	if err != nil || int64(binary.BigEndian.Uint64(b[2:])) < now.Unix() {
		return false, err
	}
	k, err := rs.keys.find(ctx, binary.BigEndian.Uint16(b))
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

// eventSubject differs from every room, because the ids of rooms are positive.
func eventSubject(event int64) subject { return subject{id: 1<<63 | uint64(event)} }

// nonceOf is the half of a nonce that identifies the visitor.
func nonceOf(visitor seats.ID) []byte {
	sum := sha256.Sum256(append([]byte("usher/visitor/work/v1"), visitor[:]...))
	return sum[:8]
}
