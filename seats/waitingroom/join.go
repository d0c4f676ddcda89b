package waitingroom

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

const (
	maxJoins  = 1 << 16 // joins in one statement
	maxRecent = 1 << 16 // places that a node remembers
)

// joinRequest is a visitor who wants a place.
type joinRequest struct {
	holder seats.ID
	person []byte // hash of a verified address or of a proof of work, where the room needs one
	by     string // byAddress, byWork or byPatience
	again  bool   // their old place is not valid any more
	answer chan joined
}

type joined struct {
	place Place
	err   error
}

// Join gives a visitor a place, or returns the one they have. token is the one that the browser stored, or empty. Call it only
// for visitors who sent a cookie, so that a browser without cookies gets no number. It returns the place and the token for the
// browser to store.
//
// Errors: ErrNotYet before the lobby opens, ErrEnded, ErrEmail where an address is needed (see JoinAs), ErrWork where a proof
// of work is (see JoinBy), or the database's.
func (r *Room) Join(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	if p, err := r.place(ctx, token, holder); err == nil {
		return p, token, nil
	}
	if p, ok := r.recall(holder); ok && r.state.Load().Entry != EntryEmail {
		token, err := r.rooms.Sign(ctx, p, holder)
		return p, token, err
	}
	if err := r.state.Load().joinError(); err != nil {
		return Place{}, "", err
	}
	return r.join(ctx, &joinRequest{holder: holder})
}

// joinError returns what a plain join lacks: an invitation, or a proof of work.
func (s *State) joinError() error {
	switch {
	case s.Entry == EntryEmail:
		return ErrEmail
	case s.AsksWork():
		return ErrWork
	}
	return nil
}

func (r *Room) join(ctx context.Context, j *joinRequest) (Place, string, error) {
	j.answer = make(chan joined, 1)
	r.joins.Come(j)
	select {
	case a := <-j.answer:
		if a.err != nil {
			return Place{}, "", a.err
		}
		token, err := r.rooms.Sign(ctx, a.place, j.holder)
		return a.place, token, err
	case <-ctx.Done():
		return Place{}, "", fmt.Errorf("waitingroom: room %d: wait for a place: %w", r.ID, ctx.Err())
	}
}

// issuePlaces answers a batch of joins with one statement, or two if some of them have a person. Two requests of one visitor
// get one place.
func (r *Room) issuePlaces(ctx context.Context, requests []*joinRequest) {
	var first, persons []*joinRequest
	have := map[seats.ID]Place{}
	for _, j := range requests {
		if _, came := have[j.holder]; came {
			continue
		}
		p, has := r.recall(j.holder)
		switch {
		case has && !j.again:
		case j.person != nil:
			persons = append(persons, j)
		default:
			first = append(first, j)
		}
		have[j.holder] = p
	}
	failed := map[seats.ID]error{}
	answer := func(some []*joinRequest, places func(context.Context, []*joinRequest) ([]Place, error)) {
		if len(some) == 0 {
			return
		}
		given, err := places(ctx, some)
		for i, j := range some {
			if err != nil {
				failed[j.holder] = err
				continue
			}
			have[j.holder] = given[i]
			r.remember(j.holder, given[i])
		}
	}
	answer(first, r.places)
	answer(persons, r.placesOfPersons)
	for _, j := range requests {
		j.answer <- joined{have[j.holder], failed[j.holder]}
	}
}

func (r *Room) places(ctx context.Context, first []*joinRequest) ([]Place, error) {
	var kind Kind
	var epoch int32
	var last int64
	var phase Phase
	n := int64(len(first))
	err := r.rooms.db.QueryRow(ctx, joinSQL, r.ID, n).Scan(&phase, &epoch, &kind, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, r.closed(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: %d join: %w", r.ID, n, err)
	}
	switch {
	case phase != r.state.Load().Phase:
		r.rooms.notify(ctx, r.ID, 0) // visitors wait from now on, so all nodes must tick
	case phase == PhaseThrough:
		r.rooms.poke()
	}
	places := make([]Place, n)
	for i := range places {
		places[i] = Place{Room: r.ID, Epoch: epoch, Kind: kind, Index: last - n + int64(i) + 1}
	}
	return places, nil
}

// In through, numbers are called while slots are available and not needed by visitors called in the last seconds. If there are
// fewer slots than visitors, the others wait.
const slotSpace = `
space AS MATERIALIZED (
    SELECT (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at > clock_timestamp()) AS live,
           coalesce((SELECT c.serving FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch AND c.at < clock_timestamp() - interval '10 seconds'
                      ORDER BY c.serving DESC LIMIT 1), 0)
             + (SELECT count(*) FROM admission a WHERE a.room_id = r.id AND a.admitted_at >= now() - interval '10 seconds') AS settled
      FROM room r
     WHERE r.id = $1 AND r.phase = 'through'
)`

// calledInThrough is how many of n visitors are called in through.
const calledInThrough = `least(n.came, greatest(0, r.slots - coalesce((SELECT live + greatest(0, r.serving - settled) FROM space), r.slots)))`

// The phase and the counters are one row. The phase decides about the kind of the place, and the lobby closes for all nodes at
// the same moment: the first statement after its time closes it.
const joinSQL = `
WITH n AS MATERIALIZED (SELECT clock_timestamp() AS now, $2::bigint AS came), ` + slotSpace + `, given AS (
    UPDATE room r
       SET version   = r.version + 1,
           phase     = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN 'drawing'
                            WHEN r.phase = 'through' AND ` + calledInThrough + ` < n.came THEN 'open' ELSE r.phase END,
           closed_at = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN n.now ELSE r.closed_at END,
           lobby     = r.lobby + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN n.came ELSE 0 END,
           line      = r.line + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN 0 ELSE n.came END,
           serving   = r.serving + CASE WHEN r.phase = 'through' THEN ` + calledInThrough + ` ELSE 0 END
      FROM n
     WHERE r.id = $1 AND r.phase <> 'ended' AND (r.phase <> 'lobby' OR r.lobby_opens_at IS NULL OR r.lobby_opens_at <= n.now)
    RETURNING r.id, r.phase, r.epoch, r.lobby, r.line, r.serving
), call AS (
    INSERT INTO called (room_id, epoch, serving)
    SELECT id, epoch, serving FROM given WHERE serving > 0 AND EXISTS (SELECT FROM space) ON CONFLICT DO NOTHING
)
SELECT phase, epoch, CASE WHEN phase = 'lobby' THEN 1 ELSE 2 END, CASE WHEN phase = 'lobby' THEN lobby ELSE line END FROM given`

// closed returns why the room does not accept joins.
func (r *Room) closed(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.state.Load().Phase == PhaseLobby {
		return ErrNotYet
	}
	return ErrEnded
}

// remember keeps a visitor's place for a while, so that a repeat after a lost answer, or from another tab, gets the same one.
// In a full memory it replaces any other one.
func (r *Room) remember(holder seats.ID, p Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent) >= maxRecent {
		for other := range r.recent {
			delete(r.recent, other)
			break
		}
	}
	r.recent[holder] = p
}

func (r *Room) recall(holder seats.ID) (Place, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.recent[holder]
	return p, ok && p.Epoch == r.state.Load().Epoch
}

// How a room is entered.
const (
	EntryBrowser = "browser" // each session has a number
	EntryEmail   = "email"   // each address that was verified has one
)

// What identifies a person: a verified address, a proof of work, or a minute of waiting instead.
const (
	byAddress  = "address"
	byWork     = "work"
	byPatience = "patience"
)

// InvitationLength is how long an invitation is good for.
const InvitationLength = 60 * 24 * time.Hour

// Invitation is the secret of an invitation mail: only the reader of the mail can join with the address. It is not stored.
func (r *Room) Invitation(ctx context.Context, address string) (string, error) {
	now, err := r.rooms.keys.now(ctx)
	if err != nil {
		return "", err
	}
	k, err := r.rooms.keys.signing(ctx)
	if err != nil {
		return "", err
	}
	b := binary.BigEndian.AppendUint16(nil, k.id)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(InvitationLength).Unix()))
	b = append(b, personOf(address)...)
	return base64.RawURLEncoding.EncodeToString(append(b, k.invite(r.ID, b)...)), nil
}

// JoinAs is Join with an invitation, in a room that needs one. One person has one number in all browsers. ErrNoPlace if the
// invitation is invalid or too old.
func (r *Room) JoinAs(ctx context.Context, holder seats.ID, token, invitation string) (Place, string, error) {
	if p, err := r.place(ctx, token, holder); err == nil {
		return p, token, nil
	}
	person, err := r.invited(ctx, invitation)
	if err != nil {
		return Place{}, "", err
	}
	return r.join(ctx, &joinRequest{holder: holder, person: person, by: byAddress})
}

// Invited checks an invitation. ErrNoPlace if it is invalid or too old.
func (r *Room) Invited(ctx context.Context, invitation string) error {
	_, err := r.invited(ctx, invitation)
	return err
}

func (r *Room) invited(ctx context.Context, invitation string) (person []byte, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(invitation)
	const body = 2 + 8 + sha256.Size
	if err != nil || len(b) != body+placeMAC {
		return nil, ErrNoPlace
	}
	k, err := r.rooms.keys.find(ctx, binary.BigEndian.Uint16(b))
	if err != nil {
		return nil, err
	}
	now, err := r.rooms.keys.now(ctx)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(b[body:], k.invite(r.ID, b[:body])) || int64(binary.BigEndian.Uint64(b[2:])) < now.Unix() {
		return nil, ErrNoPlace
	}
	return b[10:body], nil
}

func (k key) invite(room int64, body []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write(binary.BigEndian.AppendUint64([]byte("usher/invitation/v1"), uint64(room)))
	h.Write(body)
	return h.Sum(nil)[:placeMAC]
}

// personOf is a hash of an address.
func personOf(address string) []byte {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(address))))
	return sum[:]
}

// The row is locked first, so that the next statement sees every person with a number.
const lockRoomSQL = `SELECT phase FROM room WHERE id = $1 FOR NO KEY UPDATE`

// Persons with a place keep it. The others get the next ones, in the order of their requests. The lock keeps other transactions
// from adding persons.
const joinPersonsSQL = `
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS now), came AS MATERIALIZED (
    SELECT c.person, c.came_by, c.rank, e.kind, e.index, r.epoch,
           CASE WHEN r.phase = 'lobby' AND r.opens_at > t.now THEN 1 ELSE 2 END AS to_kind,
           CASE WHEN r.phase = 'lobby' AND r.opens_at > t.now THEN r.lobby ELSE r.line END
             + count(*) FILTER (WHERE e.person IS NULL) OVER (ORDER BY c.rank) AS to_index
      FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS c(person, came_by, rank) CROSS JOIN t
      JOIN room r ON r.id = $1 AND r.phase <> 'ended' AND (r.phase <> 'lobby' OR r.lobby_opens_at IS NULL OR r.lobby_opens_at <= t.now)
      LEFT JOIN entrant e ON e.room_id = $1 AND e.epoch = r.epoch AND e.person = c.person
), entered AS (
    INSERT INTO entrant (room_id, epoch, person, came_by, kind, index)
    SELECT $1, epoch, person, came_by, to_kind, to_index FROM came WHERE index IS NULL
    RETURNING kind
), n AS MATERIALIZED (
    SELECT now, (SELECT count(*) FROM entered) AS came FROM t
), ` + slotSpace + `, given AS (
    UPDATE room r
       SET version   = r.version + 1,
           phase     = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN 'drawing'
                            WHEN r.phase = 'through' AND ` + calledInThrough + ` < n.came THEN 'open' ELSE r.phase END,
           closed_at = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN n.now ELSE r.closed_at END,
           lobby     = r.lobby + (SELECT count(*) FROM entered WHERE kind = 1),
           line      = r.line + (SELECT count(*) FROM entered WHERE kind = 2),
           serving   = r.serving + CASE WHEN r.phase = 'through' THEN ` + calledInThrough + ` ELSE 0 END
      FROM n
     WHERE r.id = $1 AND EXISTS (SELECT FROM entered)
    RETURNING r.id, r.phase, r.epoch, r.serving
), call AS (
    INSERT INTO called (room_id, epoch, serving)
    SELECT id, epoch, serving FROM given WHERE serving > 0 AND EXISTS (SELECT FROM space) ON CONFLICT DO NOTHING
)
SELECT epoch, coalesce(kind, to_kind), coalesce(index, to_index) FROM came ORDER BY rank`

// placesOfPersons gives each person one place.
func (r *Room) placesOfPersons(ctx context.Context, first []*joinRequest) ([]Place, error) {
	var persons [][]byte
	var by []string
	at := map[string]int{}
	for _, j := range first {
		if _, twice := at[string(j.person)]; !twice {
			at[string(j.person)] = len(persons)
			persons, by = append(persons, j.person), append(by, j.by)
		}
	}
	var given []Place
	err := pgx.BeginFunc(ctx, r.rooms.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(lockRoomSQL, r.ID)
		q.Queue(joinPersonsSQL, r.ID, persons, by).Query(func(rows pgx.Rows) (err error) {
			p := Place{Room: r.ID}
			_, err = pgx.ForEachRow(rows, []any{&p.Epoch, &p.Kind, &p.Index}, func() error { given = append(given, p); return nil })
			return err
		})
		return tx.SendBatch(ctx, &q).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: %d persons join: %w", r.ID, len(persons), err)
	}
	if len(given) == 0 {
		return nil, r.closed(ctx)
	}
	if len(given) != len(persons) {
		return nil, errors.New("waitingroom: fewer places than persons")
	}
	places := make([]Place, len(first))
	for i, j := range first {
		places[i] = given[at[string(j.person)]]
	}
	return places, nil
}

// MailPlace is the kind of invitation mails.
const MailPlace = "place"

// maxInvited is how many addresses are invited at once.
const maxInvited = 100_000

// An address gets one mail, unless $3 asks to send it again.
const inviteSQL = `
WITH room AS (
    SELECT id FROM room WHERE slug = $1 AND entry = 'email' AND phase <> 'ended'
), sent AS (
    INSERT INTO mail AS m (email, kind, room_id)
    SELECT address, 'place', room.id FROM room, unnest($2::text[]) AS address
        ON CONFLICT (room_id, email) WHERE kind = 'place'
        DO UPDATE SET tries = 0, next_try = clock_timestamp(), sent_at = NULL, refused_at = NULL, error = '' WHERE $3
    RETURNING m.id
)
SELECT room.id, (SELECT count(*) FROM sent) FROM room`

// Invite mails invitations to a room that is entered by address. again also sends them to addresses that had one. It returns
// the number of mails. If one address is invalid no mail is sent.
func (c Control) Invite(ctx context.Context, slug string, addresses []string, again bool) (sent int, err error) {
	list, err := normalizeAddresses(addresses)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var room int64
		if err := tx.QueryRow(ctx, inviteSQL, slug, list, again).Scan(&room, &sent); err != nil {
			return err
		}
		if err := c.note(ctx, tx, room, "invite", fmt.Sprintf("%d addresses", sent)); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, c.refuse(ctx, slug, text.Mark("Only a room that is entered by email, and has not ended, takes invitations."))
	}
	if err != nil {
		return 0, fmt.Errorf("waitingroom: invite to room %q: %w", slug, err)
	}
	return sent, nil
}

// normalizeAddresses normalizes addresses and drops duplicates.
func normalizeAddresses(addresses []string) (list []string, err error) {
	for _, a := range addresses {
		address := strings.ToLower(strings.TrimSpace(a))
		if address == "" {
			continue
		}
		if !seats.IsEmail(address) {
			return nil, &seats.ValidationError{Message: text.Mark("“%s” is not an email address. No invitation was sent."), Args: []any{address}}
		}
		list = append(list, address)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 || len(list) > maxInvited {
		return nil, &seats.ValidationError{Message: text.Mark("Enter 1 to 100,000 addresses, not %d. No invitation was sent."), Args: []any{len(list)}}
	}
	return list, nil
}

// NotWorked counts an invalid proof of work, without the visitor.
func (r *Room) NotWorked() { r.badProofs.Add(1) }

// Hurried counts a join that was refused because of its network's rate, without the visitor.
func (r *Room) Hurried() { r.throttled.Add(1) }

const limitSQL = `INSERT INTO control (room_id, who, what, detail) VALUES ($1, 'usher', 'limit', $2)`

// What is recorded of refused joins. FairnessOf reads it.
const (
	throttledWords = "%d joins were refused because very many came from the same network"
	unprovenWords  = "%d joins were refused for an invalid proof of work"
)

// recordLimits records the number of refused joins, if there are any.
func (r *Room) recordLimits(ctx context.Context) error {
	for _, limit := range []struct {
		times *atomic.Int64
		words string
	}{
		{&r.throttled, throttledWords},
		{&r.badProofs, unprovenWords},
	} {
		n := limit.times.Swap(0)
		if n == 0 {
			continue
		}
		if _, err := r.rooms.db.Exec(ctx, limitSQL, r.ID, fmt.Sprintf(limit.words, n)); err != nil {
			limit.times.Add(n)
			return fmt.Errorf("waitingroom: room %d: note a limit: %w", r.ID, err)
		}
	}
	return nil
}
