package seats

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/usherbox/usher/seats/text"
)

// Errors that say what is not there or already there.
var (
	ErrNoEvent      = errors.New("there is no such event")
	ErrNoHold       = errors.New("there is no hold")
	ErrSessionEnded = errors.New("the session has ended")
	ErrSlugTaken    = errors.New("another event has this slug")
)

// Codes of a Conflict.
const (
	CodeTaken    = "taken"    // another visitor has a seat that was asked for
	CodeSoldOut  = "sold_out" // fewer free than asked for
	CodeLimit    = "limit"    // more seats than one attendee may hold
	CodeOrphan   = "lone"     // a single free seat would be left between others
	CodeExpired  = "lapsed"   // the hold's time is up
	CodePaying   = "paying"   // a payment for them is under way
	CodeChanged  = "changed"  // what is held is not what was to be sold
	CodePressure = "pressure" // others want what is held, or the extensions are used up

	CodeKey         = "key"          // the key came before with another request
	CodeShut        = "not_on_sale"  // the event is not on sale now
	CodeWaitingRoom = "waiting_room" // the event has one, and it did not let this attendee in
)

// Conflict is a claim or an extension that was understood and not granted. Nothing changed: what the attendee held
// before is still held.
type Conflict struct {
	Code    string
	Seats   []int  // the seats it is about
	Nearest []int  // free seats in their place, one for each, as far as there are any
	Message string // for the attendee: what happened, what still holds, what to do next
	Args    []any  // that fill its verbs; nil: it is as it is
}

func (r *Conflict) Error() string { return r.In(context.Background()) }

// In says it in the language of its reader.
func (r *Conflict) In(ctx context.Context) string { return text.T(ctx, r.Message, r.Args...) }

// ValidationError is a request that could never be granted: it asks for nothing, for less than nothing, for the same seat
// twice, or for something this event does not have.
type ValidationError struct {
	Message string
	Args    []any // that fill its verbs; nil: it is as it is
	Unknown bool  // it names a seat, a section or a category that is not there
}

func (n *ValidationError) Error() string { return n.In(context.Background()) }

// In says it in the language of its reader.
func (n *ValidationError) In(ctx context.Context) string { return text.T(ctx, n.Message, n.Args...) }

// Unchanged is a ValidationError about a change that was refused as a whole.
func Unchanged(wrong text.Local) *ValidationError {
	return &ValidationError{Message: "%s %s", Args: []any{wrong, text.Say("Nothing was changed.")}}
}

// ID names a holder, a hold or an order: 128 random bits, written as a UUID (RFC 9562, version 4).
type ID [16]byte

// NewID returns an ID that cannot be guessed.
func NewID() ID {
	var id ID
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, fmt.Errorf("seats: %q is not an id", s)
	}
	bare := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(bare)); err != nil {
		return ID{}, fmt.Errorf("seats: %q is not an id: %w", s, err)
	}
	return id, nil
}

// compare orders IDs as PostgreSQL does: rows are made and locked in this order.
func (id ID) compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// String returns the ID as 36 characters of UUID text.
func (id ID) String() string { return string(id.append(make([]byte, 0, 36))) }

// append writes the ID behind text, as String does.
func (id ID) append(text []byte) []byte {
	text = hex.AppendEncode(text, id[:4])
	for _, group := range [][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		text = hex.AppendEncode(append(text, '-'), group)
	}
	return text
}

// MarshalText writes the ID as String does.
func (id ID) MarshalText() ([]byte, error) { return id.append(make([]byte, 0, 36)), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// UUIDValue lets pgx write an ID; the zero ID is null.
func (id ID) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: id, Valid: id != ID{}}, nil
}

// ScanUUID lets pgx read an ID; null is the zero ID.
func (id *ID) ScanUUID(v pgtype.UUID) error {
	*id = v.Bytes
	if !v.Valid {
		*id = ID{}
	}
	return nil
}

// idArray has pgx write IDs as an array without reflection, which every claim would pay for.
type idArray []ID

func (a idArray) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(a)), LowerBound: 1}}
}

func (a idArray) Index(i int) any { return &a[i] }

func (a idArray) IndexType() any { return new(ID) }

// DB is what a function needs to talk to PostgreSQL. A pool, a connection and a transaction all fit,
// so functions compose inside a transaction without knowing it.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

type batchKey struct{}

// forBatch marks the context in which a batch waits for a connection.
func forBatch(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

// IsBatch reports whether a batch waits for a connection in this context. A pool makes those before others.
func IsBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }

// Sleep waits for some time, or until ctx is done; then it returns the error of ctx. No time is none.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// invalidValueCodes are the errors of PostgreSQL that are about a value in a request: text that is none, a zero in
// text or in JSON, a number out of range, a time that there is not.
var invalidValueCodes = []string{"22021", "22P05", "22003", "22008", "22007"}

// Unfit reports whether the database would not take a value because of what it is. Nothing was changed then.
func Unfit(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(invalidValueCodes, pg.Code)
}

// IsConstraint reports whether err is a violation of the constraint or unique index with this name.
func IsConstraint(err error, name string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.ConstraintName == name
}

// Batches lets callers wait while the statement before theirs runs. The next one takes them all: the more come,
// the larger it is, and a single claim does not wait. So a crowd costs the database as many statements as it
// can do, and not as many as there are people.
type Batches[T any] struct {
	Most int                        // most callers of one statement
	Send func(context.Context, []T) // answers each caller, or has it come again
	Ends func(running int)          // told when the batches begin to run (1) and end (-1)

	mu      sync.Mutex
	waiting []T  // guarded by mu
	running bool // guarded by mu
}

// Come adds callers to the next statement.
func (l *Batches[T]) Come(people ...T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, people...)
	if !l.running && len(people) > 0 {
		l.running = true
		l.Ends(1)
		go l.run()
	}
}

// Waiting is how many wait for the next statement.
func (l *Batches[T]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// run sends one statement after the other while callers wait. None may take longer than batchTime.
func (l *Batches[T]) run() {
	defer l.Ends(-1)
	for {
		runtime.Gosched() // let callers that are about to come join
		l.mu.Lock()
		n := min(len(l.waiting), l.Most)
		people := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		l.running = n > 0
		l.mu.Unlock()
		if n == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), batchTime)
		l.Send(ctx, people)
		cancel()
	}
}
