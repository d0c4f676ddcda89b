package waitingroom

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	mostJoin   = 1 << 16 // people who join in one statement
	mostRecent = 1 << 16 // people whose place a node remembers
)

// joiner is somebody who wants a place.
type joiner struct {
	holder seats.ID
	person []byte // who they showed they are, or what they worked for, where the room asks for that
	by     string // how they came to be that person
	again  bool   // they have a place that is worth nothing any more
	answer chan joined
}

type joined struct {
	place Place
	err   error
}

// Join gives a holder a place, or the one they have: token is what their browser kept, empty if nothing. Call it only
// for holders that came back with their session, so that who keeps no cookie has no number. It returns the place and
// what the browser is to keep.
//
// Errors: ErrNotYet before the lobby opens, ErrEnded, ErrEmail where an address is asked for (see JoinAs), ErrWork where
// work is (see JoinBy), or the database's.
func (r *Room) Join(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	if p, err := r.place(ctx, token, holder); err == nil {
		return p, token, nil
	}
	if p, ok := r.recall(holder); ok && r.state.Load().Entry != EntryEmail {
		token, err := r.gate.Sign(ctx, p, holder)
		return p, token, err
	}
	if err := r.state.Load().asks(); err != nil {
		return Place{}, "", err
	}
	return r.join(ctx, &joiner{holder: holder})
}

// asks says what nobody joins without.
func (s *State) asks() error {
	switch {
	case s.Entry == EntryEmail:
		return ErrEmail
	case s.AsksWork():
		return ErrWork
	}
	return nil
}

func (r *Room) join(ctx context.Context, j *joiner) (Place, string, error) {
	j.answer = make(chan joined, 1)
	r.joiners.Come(j)
	select {
	case a := <-j.answer:
		if a.err != nil {
			return Place{}, "", a.err
		}
		token, err := r.gate.Sign(ctx, a.place, j.holder)
		return a.place, token, err
	case <-ctx.Done():
		return Place{}, "", fmt.Errorf("waitingroom: room %d: wait for a place: %w", r.ID, ctx.Err())
	}
}

// give answers everybody who joins with one statement, or two if some of them are persons. Who asks twice at once gets one
// place.
func (r *Room) give(ctx context.Context, joiners []*joiner) {
	var first, persons []*joiner
	have := map[seats.ID]Place{}
	for _, j := range joiners {
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
	answer := func(some []*joiner, places func(context.Context, []*joiner) ([]Place, error)) {
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
	for _, j := range joiners {
		j.answer <- joined{have[j.holder], failed[j.holder]}
	}
}

func (r *Room) places(ctx context.Context, first []*joiner) ([]Place, error) {
	var kind Kind
	var epoch int32
	var last int64
	var phase Phase
	n := int64(len(first))
	err := r.gate.db.QueryRow(ctx, joinSQL, r.ID, n).Scan(&phase, &epoch, &kind, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, r.closed(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: %d join: %w", r.ID, n, err)
	}
	switch {
	case phase != r.state.Load().Phase:
		r.gate.ring(ctx, r.ID, 0) // people wait from now on: all nodes look after them, also if this one ends
	case phase == PhaseThrough:
		r.gate.poke()
	}
	places := make([]Place, n)
	for i := range places {
		places[i] = Place{Room: r.ID, Epoch: epoch, Kind: kind, Index: last - n + int64(i) + 1}
	}
	return places, nil
}

// In through, numbers are called as far as slots are free and not about to be taken by those called in the last seconds;
// when there are fewer than people who come, the others wait.
const withSpace = `
space AS MATERIALIZED (
    SELECT (SELECT count(*) FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at > clock_timestamp()) AS live,
           coalesce((SELECT c.serving FROM called c WHERE c.room_id = r.id AND c.epoch = r.epoch AND c.at < clock_timestamp() - interval '10 seconds'
                      ORDER BY c.serving DESC LIMIT 1), 0)
             + (SELECT count(*) FROM admission a WHERE a.room_id = r.id AND a.admitted_at >= now() - interval '10 seconds') AS settled
      FROM room r
     WHERE r.id = $1 AND r.phase = 'through'
)`

// calledOf is how many of n who come in through are called.
const calledOf = `least(n.came, greatest(0, r.slots - coalesce((SELECT live + greatest(0, r.serving - settled) FROM space), r.slots)))`

// The phase and the counters are one row: what the phase is decides where people come to, and the moment the lobby closes
// is the same for all nodes. The first statement after that time closes it, whoever sends it.
const joinSQL = `
WITH n AS MATERIALIZED (SELECT clock_timestamp() AS now, $2::bigint AS came), ` + withSpace + `, given AS (
    UPDATE room r
       SET version   = r.version + 1,
           phase     = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN 'drawing'
                            WHEN r.phase = 'through' AND ` + calledOf + ` < n.came THEN 'open' ELSE r.phase END,
           closed_at = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN n.now ELSE r.closed_at END,
           lobby     = r.lobby + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN n.came ELSE 0 END,
           line      = r.line + CASE WHEN r.phase = 'lobby' AND r.opens_at > n.now THEN 0 ELSE n.came END,
           serving   = r.serving + CASE WHEN r.phase = 'through' THEN ` + calledOf + ` ELSE 0 END
      FROM n
     WHERE r.id = $1 AND r.phase <> 'ended' AND (r.phase <> 'lobby' OR r.lobby_opens_at IS NULL OR r.lobby_opens_at <= n.now)
    RETURNING r.id, r.phase, r.epoch, r.lobby, r.line, r.serving
), call AS (
    INSERT INTO called (room_id, epoch, serving)
    SELECT id, epoch, serving FROM given WHERE serving > 0 AND EXISTS (SELECT FROM space) ON CONFLICT DO NOTHING
)
SELECT phase, epoch, CASE WHEN phase = 'lobby' THEN 1 ELSE 2 END, CASE WHEN phase = 'lobby' THEN lobby ELSE line END FROM given`

// closed says why nobody can join.
func (r *Room) closed(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.state.Load().Phase == PhaseLobby {
		return ErrNotYet
	}
	return ErrEnded
}

// remember keeps somebody's place for a while, so that whoever asks again, because an answer got lost or in another tab,
// has the same one. In a full memory any other one gives way.
func (r *Room) remember(holder seats.ID, p Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.recent) >= mostRecent {
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

// How somebody came to be a person: by an address that was verified, or by what they did instead.
const (
	byAddress  = "address"
	byWork     = "work"
	byPatience = "patience"
)

// InvitationLength is how long an invitation is good for.
const InvitationLength = 60 * 24 * time.Hour

// Invitation is what is mailed to an address, so that only who reads its mail joins as it. Nothing is stored.
func (r *Room) Invitation(ctx context.Context, address string) (string, error) {
	now, err := r.gate.keys.now(ctx)
	if err != nil {
		return "", err
	}
	k, err := r.gate.keys.signing(ctx)
	if err != nil {
		return "", err
	}
	b := binary.BigEndian.AppendUint16(nil, k.id)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(InvitationLength).Unix()))
	b = append(b, personOf(address)...)
	return base64.RawURLEncoding.EncodeToString(append(b, k.invite(r.ID, b)...)), nil
}

// JoinAs is Join for the person of an invitation, in a room that asks for one: they have one number, with whatever
// browser they come. ErrNoPlace if the invitation is nobody's or too old.
func (r *Room) JoinAs(ctx context.Context, holder seats.ID, token, invitation string) (Place, string, error) {
	if p, err := r.place(ctx, token, holder); err == nil {
		return p, token, nil
	}
	person, err := r.invited(ctx, invitation)
	if err != nil {
		return Place{}, "", err
	}
	return r.join(ctx, &joiner{holder: holder, person: person, by: byAddress})
}

// Invited tells whether an invitation is good. ErrNoPlace if not.
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
	k, err := r.gate.keys.find(ctx, binary.BigEndian.Uint16(b))
	if err != nil {
		return nil, err
	}
	now, err := r.gate.keys.now(ctx)
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

// personOf names an address without telling it.
func personOf(address string) []byte {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(address))))
	return sum[:]
}

// The row is locked first, so that the next statement sees everybody who has a number.
const lockRoomSQL = `SELECT phase FROM room WHERE id = $1 FOR NO KEY UPDATE`

// Those who have a place keep it; the others get the next ones, in the order in which they came. Nobody else adds a
// person meanwhile.
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
), ` + withSpace + `, given AS (
    UPDATE room r
       SET version   = r.version + 1,
           phase     = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN 'drawing'
                            WHEN r.phase = 'through' AND ` + calledOf + ` < n.came THEN 'open' ELSE r.phase END,
           closed_at = CASE WHEN r.phase = 'lobby' AND r.opens_at <= n.now THEN n.now ELSE r.closed_at END,
           lobby     = r.lobby + (SELECT count(*) FROM entered WHERE kind = 1),
           line      = r.line + (SELECT count(*) FROM entered WHERE kind = 2),
           serving   = r.serving + CASE WHEN r.phase = 'through' THEN ` + calledOf + ` ELSE 0 END
      FROM n
     WHERE r.id = $1 AND EXISTS (SELECT FROM entered)
    RETURNING r.id, r.phase, r.epoch, r.serving
), call AS (
    INSERT INTO called (room_id, epoch, serving)
    SELECT id, epoch, serving FROM given WHERE serving > 0 AND EXISTS (SELECT FROM space) ON CONFLICT DO NOTHING
)
SELECT epoch, coalesce(kind, to_kind), coalesce(index, to_index) FROM came ORDER BY rank`

// placesOfPersons gives each person one place, whoever comes as them.
func (r *Room) placesOfPersons(ctx context.Context, first []*joiner) ([]Place, error) {
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
	err := pgx.BeginFunc(ctx, r.gate.db, func(tx pgx.Tx) error {
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
		return nil, errors.New("waitingroom: a person came and got no answer")
	}
	places := make([]Place, len(first))
	for i, j := range first {
		places[i] = given[at[string(j.person)]]
	}
	return places, nil
}

// MailPlace is the kind of mail that invites somebody to a waiting room.
const MailPlace = "place"

// mostInvited is how many addresses are invited at once.
const mostInvited = 100_000

// Who has their mail already gets no second one, unless it is sent again.
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

// Invite mails people the link by which they join a room that is entered by address; again also sends it to those who were
// sent it before. It returns how many mails are on their way. Nobody is invited if one address is none.
func (c Control) Invite(ctx context.Context, slug string, addresses []string, again bool) (sent int, err error) {
	list, err := addressed(addresses)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var room int64
		if err := tx.QueryRow(ctx, inviteSQL, slug, list, again).Scan(&room, &sent); err != nil {
			return err
		}
		return c.note(ctx, tx, room, "invite", fmt.Sprintf("%d addresses", sent))
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, c.refuse(ctx, slug, "Only a room that is entered by e-mail, and has not ended, takes invitations.")
	}
	if err != nil {
		return 0, fmt.Errorf("waitingroom: invite to room %q: %w", slug, err)
	}
	return sent, nil
}

// addressed writes addresses in one way, each once.
func addressed(addresses []string) (list []string, err error) {
	for _, text := range addresses {
		text = strings.ToLower(strings.TrimSpace(text))
		if text == "" {
			continue
		}
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text || len(text) > 254 {
			return nil, &seats.Nonsense{Message: fmt.Sprintf("%q is not an e-mail address. Nobody was invited.", text)}
		}
		list = append(list, text)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 || len(list) > mostInvited {
		return nil, &seats.Nonsense{Message: fmt.Sprintf("%d addresses are not between 1 and 100,000. Nobody was invited.", len(list))}
	}
	return list, nil
}

// NotWorked notes that somebody's proof was worth nothing. Who it was is not kept.
func (r *Room) NotWorked() { r.idle.Add(1) }

// Hurried notes that somebody was told to join later, because too many of their network joined. Who it was is not kept.
func (r *Room) Hurried() { r.hurry.Add(1) }

const limitSQL = `INSERT INTO control (room_id, who, what, detail) VALUES ($1, 'usher', 'limit', $2)`

// noteLimits writes down how many were told to join later, or to work first, if any were.
func (r *Room) noteLimits(ctx context.Context) error {
	for _, limit := range []struct {
		times *atomic.Int64
		words string
	}{
		{&r.hurry, "%d times somebody of a network from which very many join was told to do so later"},
		{&r.idle, "%d times somebody joined without the work that was asked for, and was told to do it"},
	} {
		n := limit.times.Swap(0)
		if n == 0 {
			continue
		}
		if _, err := r.gate.db.Exec(ctx, limitSQL, r.ID, fmt.Sprintf(limit.words, n)); err != nil {
			limit.times.Add(n)
			return fmt.Errorf("waitingroom: room %d: note a limit: %w", r.ID, err)
		}
	}
	return nil
}
