package limit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Mode says when visitors of an event do work before they claim seats.
type Mode string

// Modes of the challenge.
const (
	Off       Mode = "off"
	Automatic Mode = "automatic" // for visitors of busy networks, and for all of them during an attack
	Always    Mode = "always"
)

// Settings are the limits of an event. A figure that is 0 is the usual one.
type Settings struct {
	Challenge        Mode `json:"challenge"`
	SeatsPerNetwork  int  `json:"seats_per_network"`  // claimed without work within the length of a hold
	HeldPerNetwork   int  `json:"held_per_network"`   // held at once, with work or without; ordered seats do not count
	UnpaidPerNetwork int  `json:"unpaid_per_network"` // orders without work
	UnpaidPerEmail   int  `json:"unpaid_per_email"`   // orders
}

// The usual figures. A family, an office or a school class stays below them.
const (
	usualSeats    = 120
	fewestSeats   = 30 // if a quarter of the event's seats is less
	fewestHeld    = 60 // if half of the event's seats is less
	usualUnpaid   = 30
	usualPerEmail = 10
)

// ErrSettings is the answer to invalid settings.
var ErrSettings = errors.New("the challenge is off, automatic or always, and figures are 0 to 100000")

func (s Settings) check() error {
	for _, n := range []int{s.SeatsPerNetwork, s.HeldPerNetwork, s.UnpaidPerNetwork, s.UnpaidPerEmail} {
		if n < 0 || n > 100_000 {
			return ErrSettings
		}
	}
	if s.Challenge != Off && s.Challenge != Automatic && s.Challenge != Always {
		return ErrSettings
	}
	return nil
}

// Alarm is a detected attack. It ends when nothing was detected for alarmFor.
type Alarm struct {
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Reason   Reason    `json:"reason"`
	Everyone bool      `json:"everyone"` // all visitors work, not only those of busy networks
}

// Reason is what was noticed: a message with its values as JSON, which readers get in their language.
type Reason string

func reason(id string, values ...string) Reason {
	written, _ := json.Marshal(append([]string{id}, values...)) // strings always marshal
	return Reason(written)
}

// In says it in the language of its reader.
func (r Reason) In(ctx context.Context) string {
	var parts []string
	if json.Unmarshal([]byte(r), &parts) != nil || len(parts) == 0 {
		return string(r) // as earlier versions wrote it
	}
	values := make([]any, len(parts)-1)
	for i, v := range parts[1:] {
		values[i] = v
	}
	return text.T(ctx, parts[0], values...)
}

func (r Reason) String() string { return r.In(context.Background()) }

// MarshalText writes it in English, for programs.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

const alarmFor = 10 * time.Minute

// State is the protection of an event at a moment.
type State struct {
	Settings
	Alarm *Alarm `json:"alarm,omitempty"` // nil: no attack
}

// Events are the limits of all events, as this node knows them.
type Events struct {
	*Limiter

	Changed func(event int64) // called after the state of an event changed; it must return at once

	db      seats.DB
	log     *slog.Logger
	events  sync.Map   // *Event by id
	reading sync.Mutex // held by Read: one that was answered before may not end after another
}

const mostKeys = 1 << 18 // 16 MB at most

// Channel is where the database tells of changed limits, in the transaction that changed them. A node calls Read when it
// begins to listen there, and after each notification.
const Channel = "usher_limit"

// NewEvents returns the limits of a database. They are the usual ones until Read.
func NewEvents(db seats.DB, log *slog.Logger) *Events {
	return &Events{Limiter: NewLimiter(mostKeys), Changed: func(int64) {}, db: db, log: log}
}

// Of returns the limits of an event.
func (es *Events) Of(s *seats.Sale) *Event {
	known, ok := es.events.Load(s.Event.ID)
	if !ok {
		known, _ = es.events.LoadOrStore(s.Event.ID, &Event{id: s.Event.ID, all: es, began: time.Now()})
	}
	e, _ := known.(*Event)
	if e.sale.Load() != s {
		e.sale.Store(s)
	}
	return e
}

// Event is the limits of one event, and what this node counted for it.
type Event struct {
	id  int64
	all *Events

	sale  atomic.Pointer[seats.Sale] // nil until Of was called with it
	state atomic.Pointer[State]
	alarm atomic.Pointer[Alarm] // raised here and not stored yet

	// Seats claimed on this node that visitors still hold, and ordered ones, in this window and the one before. Only Run moves
	// the window.
	mu                 sync.Mutex
	granted, grantedOf map[uint64]share // by visitor
	ordered            atomic.Int64
	orderedOf          int64
	began              time.Time

	// What networks hold, as crowd.go counts it, also under mu.
	crowds   map[Network]crowd
	holders  map[seats.ID]holding
	counting sync.Mutex // held while counted is read and changed; mu may be taken under it
	counted  time.Time
}

func (e *Event) capacity() int {
	if s := e.sale.Load(); s != nil {
		return len(s.Plan.Seats)
	}
	return 0
}

func (e *Event) holdLength() time.Duration {
	if s := e.sale.Load(); s != nil {
		return s.Event.HoldLength
	}
	return 0
}

// State returns the protection of the event.
func (e *Event) State(now time.Time) State {
	s := State{Settings: Settings{Challenge: Automatic}}
	if known := e.state.Load(); known != nil {
		s = *known
	}
	if s.Alarm != nil && !now.Before(s.Alarm.Until) {
		s.Alarm = nil
	}
	return s
}

// Figures are the settings with the usual figures in place of 0.
func (e *Event) Figures() Settings {
	s := e.State(time.Time{}).Settings
	if s.SeatsPerNetwork == 0 {
		s.SeatsPerNetwork = max(fewestSeats, min(usualSeats, e.capacity()/4))
	}
	if s.HeldPerNetwork == 0 {
		s.HeldPerNetwork = max(fewestHeld, e.capacity()/2)
	}
	if s.UnpaidPerNetwork == 0 {
		s.UnpaidPerNetwork = usualUnpaid
	}
	if s.UnpaidPerEmail == 0 {
		s.UnpaidPerEmail = usualPerEmail
	}
	return s
}

// Asks reports whether a visitor of a network needs a pass to claim n seats. If not, it takes n from the network's
// allowance. Return gives back those that the visitor did not get.
func (e *Event) Asks(network Network, n int, now time.Time) bool {
	s := e.State(now)
	switch {
	case s.Challenge == Off:
		return false
	case s.Challenge == Always || s.Alarm != nil && s.Alarm.Everyone:
		return true
	}
	rate := e.rate()
	if e.all.Take(With(uint64(e.id), uint64(network)), n, rate, now) == 0 {
		return false
	}
	e.notice(reason(text.Mark("Visitors from %s claimed %s seats within %s."), network.String(), strconv.Itoa(rate.Burst), e.holdLength().String()), now)
	return true
}

// Return gives back the allowance that Asks took for a refused claim.
func (e *Event) Return(network Network, n int) {
	if e.State(time.Time{}).Challenge == Automatic {
		e.all.Give(With(uint64(e.id), uint64(network)), n, e.rate())
	}
}

func (e *Event) rate() Rate {
	return Per(e.Figures().SeatsPerNetwork, max(time.Second, e.holdLength()))
}

// share is the seats that one visitor holds.
type share struct {
	network Network
	seats   int
}

// Granted ends a claim that Admit admitted, with its key if it had one: a visitor of a network holds n seats now.
func (e *Event) Granted(holder seats.ID, network Network, asked, n int, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.granted == nil {
		e.granted = map[uint64]share{}
	}
	e.granted[IDKey(holder)] = share{network, n}
	e.answered(network, asked)
	e.holds(holder, network, holding{seats: n, key: hashKey(key)})
}

// Released records that a visitor gave seats back and holds n now.
func (e *Event) Released(holder seats.ID, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, of := range []map[uint64]share{e.granted, e.grantedOf} {
		if had, known := of[IDKey(holder)]; known && n == 0 {
			delete(of, IDKey(holder))
		} else if known {
			of[IDKey(holder)] = share{had.network, min(had.seats, n)}
		}
	}
}

// held counts the seats that visitors hold, at most so many of each network.
func held(by map[uint64]share, most int) (n int) {
	networks := map[Network]int{}
	for _, of := range by {
		networks[of.network] += of.seats
	}
	for _, seats := range networks {
		n += min(seats, most)
	}
	return n
}

// Ordered records seats that a visitor ordered or began to pay for.
func (e *Event) Ordered(n int) { e.ordered.Add(int64(n)) }

// Counted returns the seats that visitors claimed in this window and hold, and those that they ordered in it, as this node counted them.
func (e *Event) Counted() (holding, ordered int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, of := range e.granted {
		holding += of.seats
	}
	return holding, int(e.ordered.Load())
}

// notice raises an alarm about one network, at most once a minute.
func (e *Event) notice(why Reason, now time.Time) {
	if a := e.State(now).Alarm; a == nil || a.Until.Sub(now) < alarmFor-time.Minute {
		e.raise(why, false, now)
	}
}

func (e *Event) raise(why Reason, everyone bool, now time.Time) {
	if before := e.alarm.Load(); before != nil && before.Everyone && !everyone {
		return // a stronger alarm is not stored yet
	}
	e.alarm.Store(&Alarm{Since: now, Until: now.Add(alarmFor), Reason: why, Everyone: everyone})
}

const (
	shortestWindow = 5 * time.Minute
	fewestGranted  = 50 // seats in a window, and a fifth of the event's seats
	fewestNetworks = 5  // that must hold them: an attack from one network only affects its own visitors
)

// judge compares, at the end of each window, the seats claimed in the window before with those ordered. A window is as long as
// a hold, so that buyers had the time to order. Many seats and few orders are an attack. A node judges what it counted itself: what
// visitors give back at another one still counts here, and an attack on N nodes is seen at N times the figure.
func (e *Event) judge(ctx context.Context, now time.Time) {
	window := max(shortestWindow, e.holdLength())
	if now.Sub(e.began) < window {
		return
	}
	many, ordered := max(fewestGranted, e.capacity()/5), e.ordered.Swap(0)
	e.mu.Lock()
	stale := len(e.holders) > 0
	had := held(e.grantedOf, (many+fewestNetworks-1)/fewestNetworks)
	e.granted, e.grantedOf = nil, e.granted
	e.mu.Unlock()
	if sold := int(e.orderedOf + ordered); had >= many && sold*5 < had {
		e.raise(reason(text.Mark("Visitors claimed %s seats within %s and ordered %s."), strconv.Itoa(had), window.String(), strconv.Itoa(sold)), true, now)
	}
	e.orderedOf, e.began = ordered, now
	if s := e.sale.Load(); s != nil && stale { // those who hold nothing any more are forgotten
		e.count(ctx, s)
	}
}

const readSQL = `
SELECT event_id, challenge, coalesce(seats_per_network, 0), coalesce(held_per_network, 0), coalesce(unpaid_per_network, 0), coalesce(unpaid_per_email, 0),
       alarm_since, alarm_until, alarm_reason, alarm_everyone
  FROM event_limit`

// Read reads the limits from the database.
func (es *Events) Read(ctx context.Context) error {
	es.reading.Lock()
	defer es.reading.Unlock()
	rows, err := es.db.Query(ctx, readSQL)
	if err != nil {
		return fmt.Errorf("limit: read: %w", err)
	}
	var id int64
	var s State
	var since, until *time.Time
	var why Reason
	var everyone bool
	_, err = pgx.ForEachRow(rows, []any{&id, &s.Challenge, &s.SeatsPerNetwork, &s.HeldPerNetwork, &s.UnpaidPerNetwork, &s.UnpaidPerEmail, &since, &until, &why, &everyone}, func() error {
		next := s
		if since != nil && until != nil {
			next.Alarm = &Alarm{*since, *until, why, everyone}
		}
		known, _ := es.events.LoadOrStore(id, &Event{id: id, all: es, began: time.Now()})
		e, _ := known.(*Event)
		if before := e.state.Swap(&next); before == nil || !before.same(&next) {
			es.Changed(id)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("limit: read: %w", err)
	}
	return nil
}

func (s *State) same(other *State) bool {
	return s.Settings == other.Settings && (s.Alarm == nil) == (other.Alarm == nil) && (s.Alarm == nil || *s.Alarm == *other.Alarm)
}

// Alarms of several nodes are one: it begins with the first, and is for all visitors once one of them is.
const alarmSQL = `
WITH raised AS (
    INSERT INTO event_limit AS l (event_id, alarm_since, alarm_until, alarm_reason, alarm_everyone)
    VALUES ($1, clock_timestamp(), clock_timestamp() + make_interval(secs => $2), $3, $4)
    ON CONFLICT (event_id) DO UPDATE
       SET alarm_since    = CASE WHEN l.alarm_until > clock_timestamp() THEN l.alarm_since ELSE excluded.alarm_since END,
           alarm_until    = excluded.alarm_until,
           alarm_reason   = CASE WHEN l.alarm_until > clock_timestamp() AND l.alarm_everyone AND NOT excluded.alarm_everyone THEN l.alarm_reason ELSE excluded.alarm_reason END,
           alarm_everyone = excluded.alarm_everyone OR l.alarm_until > clock_timestamp() AND l.alarm_everyone
)
SELECT pg_notify(house_channel('usher_limit'), '')`

const every = time.Second

// Run judges each second what this node counted, and stores its alarms, until ctx ends. Without an alarm it leaves the
// database alone.
func (es *Events) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := es.step(ctx, time.Now()); err != nil && ctx.Err() == nil {
			es.log.Error("failed to update the limits of events; they stay as they were", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (es *Events) step(ctx context.Context, now time.Time) error {
	var err error
	raised := false
	es.events.Range(func(_, value any) bool {
		e, _ := value.(*Event)
		e.judge(ctx, now)
		a := e.alarm.Swap(nil)
		if a == nil {
			return true
		}
		raised = true
		es.log.Warn("claims of an event look like an attack", "event", e.id, "reason", a.Reason, "everyone", a.Everyone)
		if _, err = es.db.Exec(ctx, alarmSQL, e.id, alarmFor.Seconds(), a.Reason, a.Everyone); err != nil {
			e.alarm.CompareAndSwap(nil, a)
			return false
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("limit: write an alarm: %w", err)
	}
	if !raised {
		return nil
	}
	return es.Read(ctx)
}

// New settings end an alarm, because the organizer saw it.
const setSQL = `
WITH set AS (
    INSERT INTO event_limit AS l (event_id, challenge, seats_per_network, held_per_network, unpaid_per_network, unpaid_per_email)
    VALUES ($1, $2, nullif($3, 0), nullif($4, 0), nullif($5, 0), nullif($6, 0))
    ON CONFLICT (event_id) DO UPDATE
       SET challenge = excluded.challenge, seats_per_network = excluded.seats_per_network, held_per_network = excluded.held_per_network,
           unpaid_per_network = excluded.unpaid_per_network, unpaid_per_email = excluded.unpaid_per_email,
           alarm_until = CASE WHEN l.alarm_until > clock_timestamp() THEN clock_timestamp() ELSE l.alarm_until END
)
SELECT pg_notify(house_channel('usher_limit'), '')`

// Set changes the limits of an event, in one transaction with also, and tells other nodes. ErrSettings if they are invalid.
func (es *Events) Set(ctx context.Context, event int64, s Settings, also seats.TxHook) error {
	if err := s.check(); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, es.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setSQL, event, s.Challenge, s.SeatsPerNetwork, s.HeldPerNetwork, s.UnpaidPerNetwork, s.UnpaidPerEmail); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("limit: set: %w", err)
	}
	return es.Read(ctx)
}

const copySQL = `
WITH copied AS (
    INSERT INTO event_limit (event_id, challenge, seats_per_network, held_per_network, unpaid_per_network, unpaid_per_email)
    SELECT $2, challenge, seats_per_network, held_per_network, unpaid_per_network, unpaid_per_email FROM event_limit WHERE event_id = $1
    ON CONFLICT (event_id) DO NOTHING
)
SELECT pg_notify(house_channel('usher_limit'), '')`

// Copy copies the limits of an event to a new one.
func (es *Events) Copy(ctx context.Context, from, to int64) error { return Copy(ctx, es.db, from, to) }

// Copy copies the limits of an event to a new one, in the transaction that makes it.
func Copy(ctx context.Context, db seats.DB, from, to int64) error {
	if _, err := db.Exec(ctx, copySQL, from, to); err != nil {
		return fmt.Errorf("limit: copy: %w", err)
	}
	return nil
}
