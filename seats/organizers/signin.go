package organizers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Why a sign-in failed.
var (
	ErrSignIn = errors.New("this address and this password do not belong together")
	ErrOften  = errors.New("that was tried often enough for now")
	ErrBusy   = errors.New("too many passwords are being checked at the moment")
)

// Often is ErrOften with the time after which a try is taken again.
type Often struct{ After time.Duration }

func (o *Often) Error() string { return ErrOften.Error() }

// Is makes an Often an ErrOften.
func (o *Often) Is(target error) bool { return target == ErrOften }

// TriesWithin is how long tries to sign in are counted for.
const TriesWithin = 15 * time.Minute

// Client is the browser or program that a request comes from.
type Client struct {
	Network string // truncated address, such as 192.0.2.0/24; empty: unknown
	Shared  bool   // this machine or a private network: a proxy may stand in for everybody there
	Device  string // what its device cookie says; empty: it has none
	Agent   string // in words, such as "Firefox on Linux"
}

// network names the network in counters and events.
func (c Client) network() string {
	if c.Network == "" {
		return "unknown"
	}
	return c.Network
}

// slowing says how tries of one kind are slowed down: the first free ones are not, then each waits twice as long as the one
// before, up to most. Beyond refused tries within TriesWithin the next is refused; 0: never.
type slowing struct {
	free    int
	most    time.Duration
	refused int
}

const firstDelay = 250 * time.Millisecond

var (
	pairPace    = slowing{free: 3, most: 8 * time.Second}                 // one address from one network
	emailPace   = slowing{free: 20, most: 2 * time.Second}                // one address from networks all together
	networkPace = slowing{free: 20, most: 8 * time.Second, refused: 60}   // one network, whatever the address
	sharedPace  = slowing{free: 100, most: 8 * time.Second, refused: 600} // a network in which a proxy may stand in for everybody
	devicePace  = slowing{free: 3, most: 8 * time.Second, refused: 10}    // a known device: beyond, it is one like all others
	provePace   = slowing{free: 3, most: 2 * time.Second, refused: 20}    // an organizer who is signed in, or past the password
	askPace     = slowing{free: 60, refused: 60}                          // links and passkeys that are asked for, by network
	sharedAsk   = slowing{free: 600, refused: 600}                        // the same where a proxy may stand in for everybody
)

// delay is how long try number n waits before it is looked at.
func (p slowing) delay(n int) time.Duration {
	if n <= p.free || p.most == 0 {
		return 0
	}
	return min(p.most, firstDelay<<min(n-p.free-1, 10))
}

// counter is one thing that tries are counted by.
type counter struct {
	name string
	slow slowing
}

func (c counter) key() []byte { return attemptKey(c.name) }

func attemptKey(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

// The row counts, so that many at once get no more. In the order of their keys, as every try takes its locks.
const tryInSQL = `
INSERT INTO attempt (who) SELECT who FROM unnest($1::bytea[]) AS who ORDER BY who
    ON CONFLICT (who) DO UPDATE
   SET tries = CASE WHEN attempt.since > clock_timestamp() - interval '15 minutes' THEN attempt.tries + 1 ELSE 1 END,
       since = CASE WHEN attempt.since > clock_timestamp() - interval '15 minutes' THEN attempt.since ELSE clock_timestamp() END
RETURNING who, tries, extract(epoch FROM since + interval '15 minutes' - clock_timestamp())::float8`

// count counts a try before anything is looked at and returns how long each counter has it wait. An *Often if there were
// too many.
func (d *Desk) count(ctx context.Context, by ...counter) (delays []time.Duration, err error) {
	keys, at := make([][]byte, len(by)), map[string]int{}
	for i, c := range by {
		keys[i] = c.key()
		at[string(keys[i])] = i
	}
	delays = make([]time.Duration, len(by))
	rows, err := d.db.Query(ctx, tryInSQL, keys)
	if err != nil {
		return nil, fmt.Errorf("organizers: count a try: %w", err)
	}
	var key []byte
	var tries int
	var left float64
	var after time.Duration
	_, err = pgx.ForEachRow(rows, []any{&key, &tries, &left}, func() error {
		i := at[string(key)]
		p := by[i].slow
		delays[i] = p.delay(tries)
		if p.refused > 0 && tries > p.refused {
			after = max(after, time.Duration(left*float64(time.Second)), time.Second)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: count a try: %w", err)
	}
	if after > 0 {
		return nil, &Often{after}
	}
	return delays, nil
}

// Tries that were none: a right password takes back what it counted. Old rows go with it. Both lock as tryInSQL does.
const forgetTriesSQL = `
DELETE FROM attempt
 WHERE who IN (SELECT who FROM attempt WHERE who = $1 OR since < clock_timestamp() - interval '1 day' ORDER BY who FOR UPDATE)`

const takeBackSQL = `
WITH own AS (SELECT who FROM attempt WHERE who = ANY($1) ORDER BY who FOR UPDATE)
UPDATE attempt SET tries = greatest(attempt.tries - 1, 0) FROM own WHERE attempt.who = own.who`

// succeeded forgets the tries of the first counter and takes this one back from the others.
func (d *Desk) succeeded(ctx context.Context, by []counter) error {
	if _, err := d.db.Exec(ctx, forgetTriesSQL, by[0].key()); err != nil {
		return fmt.Errorf("organizers: forget tries: %w", err)
	}
	var rest [][]byte
	for _, c := range by[1:] {
		rest = append(rest, c.key())
	}
	if _, err := d.db.Exec(ctx, takeBackSQL, rest); err != nil {
		return fmt.Errorf("organizers: forget tries: %w", err)
	}
	return nil
}

// How many tries may wait on one node at the same time. Each costs a connection and some memory.
const (
	waitingOfPair    = 2
	waitingOfNetwork = 16
	waitingInAll     = 256
)

// slowDown has a try wait for its delay. An *Often if too many wait already: the try is not looked at. One from a network that
// has no delay itself is not refused because of other networks: their tries may be all that slows the address down.
func (d *Desk) slowDown(ctx context.Context, pair, network string, own, delay time.Duration) error {
	if delay == 0 {
		return nil
	}
	type place struct {
		name string
		most int
	}
	places := []place{{"pair " + pair, waitingOfPair}, {"network " + network, waitingOfNetwork}}
	if own > 0 {
		places = append(places, place{"all", waitingInAll})
	}
	d.slow.Lock()
	for _, p := range places {
		if d.waiting[p.name] >= p.most {
			d.slow.Unlock()
			return &Often{delay}
		}
	}
	for _, p := range places {
		d.waiting[p.name]++
	}
	d.slow.Unlock()
	defer func() {
		d.slow.Lock()
		defer d.slow.Unlock()
		for _, p := range places {
			if d.waiting[p.name]--; d.waiting[p.name] == 0 {
				delete(d.waiting, p.name)
			}
		}
	}()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const passwordSQL = `
SELECT o.id, o.epoch, o.password,
       EXISTS (SELECT FROM desk_device d WHERE d.organizer_id = o.id AND d.token = $2 AND d.used_at > clock_timestamp() - interval '180 days')
  FROM organizer o WHERE o.email = $1`

// SignIn returns who has this address and this password; Enter begins their session.
//
// Failures are counted by address and network together, by address, by network, and for a device in which the organizer
// signed in before by that device alone. Each of them slows the next try down; a stranger cannot shut an organizer out of a
// device that they use, nor, from one network, out of another one.
//
// Errors: ErrSignIn if they do not belong together, whether or not there is such an organizer, and as slowly; an *Often
// if too many failed or wait; ErrBusy; the database's.
func (d *Desk) SignIn(ctx context.Context, email, password string, from Client) (s Session, err error) {
	email, ok := seats.NormalEmail(email)
	if !ok || len(password) > mostPassword {
		return s, ErrSignIn
	}
	var hash string
	var known bool
	err = d.db.QueryRow(ctx, passwordSQL, email, tokenHash(from.Device)).Scan(&s.Organizer, &s.Epoch, &hash, &known)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("organizers: sign in: %w", err)
	}
	by, err := d.paced(ctx, email, from, known)
	if errors.Is(err, ErrOften) {
		d.Report(SecurityEvent{Kind: SignInSlowed, Organizer: s.Organizer, Network: from.network()})
	}
	if err != nil {
		return Session{}, err
	}
	ok, err = d.opens(ctx, password, hash, known)
	switch {
	case err != nil:
		return Session{}, err
	case !ok:
		d.Report(SecurityEvent{Kind: SignInFailed, Organizer: s.Organizer, Network: from.network(), Agent: from.Agent, Detail: "password"})
		return Session{}, ErrSignIn
	}
	if err := d.succeeded(ctx, by); err != nil {
		return Session{}, err
	}
	return s, nil
}

// paced counts a try to sign in and has it wait. It returns what it was counted by.
func (d *Desk) paced(ctx context.Context, email string, from Client, known bool) (by []counter, err error) {
	if known {
		by = []counter{{"device " + from.Device + " " + email, devicePace}}
		if _, err := d.count(ctx, by...); !errors.Is(err, ErrOften) {
			return by, err // a known device does not wait
		}
	}
	pair, network := email+" "+from.network(), networkPace
	if from.Shared {
		network = sharedPace
	}
	by = []counter{{"pair " + pair, pairPace}, {"email " + email, emailPace}, {"network " + from.network(), network}}
	delays, err := d.count(ctx, by...)
	if err != nil {
		return nil, err
	}
	return by, d.slowDown(ctx, pair, from.network(), max(delays[0], delays[2]), slices.Max(delays))
}

// asking counts a link or a passkey that is asked for. ErrOften if a network asked too often.
func (d *Desk) asking(ctx context.Context, from Client) error {
	p := askPace
	if from.Shared {
		p = sharedAsk
	}
	_, err := d.count(ctx, counter{"asks " + from.network(), p})
	return err
}

const signOutAllSQL = `UPDATE organizer SET epoch = epoch + 1 WHERE id = $1`

// SignOutEverywhere ends every session of a member, on all nodes at once.
func (d *Desk) SignOutEverywhere(ctx context.Context, m Member) error {
	return pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, signOutAllSQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: sign out everywhere: %w", err)
		}
		if _, err := tx.Exec(ctx, endSessionsSQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: sign out everywhere: %w", err)
		}
		_, err := tx.Exec(ctx, noteEverywhereSQL, m.Organizer, "signed out everywhere")
		return err
	})
}
