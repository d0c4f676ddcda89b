package waitingroom

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

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
	k, err := r.gate.keys.signing(ctx)
	if err != nil {
		return "", err
	}
	b := binary.BigEndian.AppendUint16(nil, k.id)
	b = binary.BigEndian.AppendUint64(b, uint64(time.Now().Add(InvitationLength).Unix()))
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
	if !hmac.Equal(b[body:], k.invite(r.ID, b[:body])) || int64(binary.BigEndian.Uint64(b[2:])) < time.Now().Unix() {
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
