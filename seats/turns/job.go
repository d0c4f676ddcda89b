package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/webhooks"
)

// New returns the requests of one node. Run its Jobs.
func New(db *pgxpool.Pool, rooms *waitingroom.Rooms, log *slog.Logger) *Turns {
	t := &Turns{MailWritten: func() {}, Client: webhooks.NewClient(false), db: db, rooms: rooms, log: log, asked: map[int64]bool{}}
	t.mails = jobs.New("your turn", dueMailSQL, t.do)
	t.pushes = jobs.New("push messages", duePushSQL, t.push)
	t.pushes.AtOnce = 16
	return t
}

// Jobs returns the jobs: telling by mail, telling by push messages, and deleting what is over.
func (t *Turns) Jobs() []*jobs.Job {
	return []*jobs.Job{t.mails, t.pushes, jobs.Hourly("delete old requests to be told", t.purge)}
}

// Wake says that offers may have been made. It returns at once.
func (t *Turns) Wake() { t.pushes.Wake() }

// look has this node look for requests with a number that is called, or drawn.
func (t *Turns) look() {
	t.mails.Wake()
	t.pushes.Wake()
}

// Changed notes that numbers of a room may have been called. It returns at once, and does nothing in a room in which this
// node took no request.
func (t *Turns) Changed(room *waitingroom.Room) {
	t.mu.Lock()
	asked := t.asked[room.ID]
	if asked && room.State().Phase == waitingroom.PhaseEnded {
		delete(t.asked, room.ID)
	}
	t.mu.Unlock()
	if asked {
		t.look()
	}
}

// calledSQL is the requests of whom it is the turn, and until when. An entry with a consent is offered seats only once
// they could not be ordered.
const calledSQL = `
SELECT t.id, c.until, NULL::uuid AS offer
  FROM room r JOIN turn_request t ON t.room_id = r.id AND t.epoch = r.epoch AND t.number <= r.serving,
       LATERAL (SELECT at + r.valid AS until FROM called WHERE room_id = r.id AND epoch = r.epoch AND serving >= t.number ORDER BY serving LIMIT 1) c
 WHERE r.phase IN ('open', 'through')
 UNION ALL
SELECT t.id, o.until, o.id
  FROM offer o JOIN turn_request t ON t.entry_id = o.entry_id AND t.offer_id IS DISTINCT FROM o.id JOIN entry n ON n.id = o.entry_id
 WHERE o.state = 'open' AND o.declined_at IS NULL AND n.method IS NULL`

// A key is a room with a drawn lobby, or all mail.
const dueMailSQL = `
SELECT 'draw/' || r.id, min(t.asked_at)
  FROM room r JOIN turn_request t ON t.room_id = r.id AND t.epoch = r.epoch AND t.number IS NULL
 WHERE r.drawn_at IS NOT NULL AND r.phase <> 'ended' GROUP BY r.id
 UNION ALL
SELECT 'mail', min(t.next_try) FROM turn_request t JOIN (` + calledSQL + `) c USING (id) WHERE t.email IS NOT NULL HAVING count(*) > 0`

func (t *Turns) do(ctx context.Context, key string) (int, error) {
	of, draw := strings.CutPrefix(key, "draw/")
	if !draw {
		return t.mail(ctx)
	}
	room, err := strconv.ParseInt(of, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("turns: %q is no room: %w", of, err)
	}
	return t.number(ctx, room)
}

// atOnce is how many requests one statement numbers or mails.
const atOnce = 2000

// Requests of a lobby before this one get no number: they are left to purge.
const unnumberedSQL = `
SELECT id, epoch, kind, index FROM turn_request
 WHERE room_id = $1 AND epoch = (SELECT epoch FROM room WHERE id = $1) AND number IS NULL ORDER BY id LIMIT $2`

const numberSQL = `
UPDATE turn_request t SET number = n.number FROM unnest($1::bigint[], $2::bigint[]) AS n(id, number) WHERE t.id = n.id AND t.number IS NULL`

// number gives requests from the lobby their drawn numbers.
func (t *Turns) number(ctx context.Context, id int64) (int, error) {
	var room *waitingroom.Room
	for _, r := range t.rooms.All() {
		if r.ID == id {
			room = r
		}
	}
	if room == nil {
		return 0, nil // this node knows it in a second
	}
	rows, err := t.db.Query(ctx, unnumberedSQL, id, atOnce)
	if err != nil {
		return 0, fmt.Errorf("turns: number room %d: %w", id, err)
	}
	var ids, numbers []int64
	defer rows.Close()
	for rows.Next() {
		p := waitingroom.Place{Room: id}
		var request int64
		if err := rows.Scan(&request, &p.Epoch, &p.Kind, &p.Index); err != nil {
			return 0, fmt.Errorf("turns: number room %d: %w", id, err)
		}
		if n := room.Number(p); n > 0 {
			ids, numbers = append(ids, request), append(numbers, n)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("turns: number room %d: %w", id, err)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	if _, err := t.db.Exec(ctx, numberSQL, ids, numbers); err != nil {
		return 0, fmt.Errorf("turns: number room %d: %w", id, err)
	}
	t.pushes.Wake() // some may be called already
	return len(ids), nil
}

// Mail is the kind of mail that tells of a turn.
const Mail = "turn"

// About is what such a mail says; its row keeps it.
type About struct {
	Number int64     `json:"number"`
	Until  time.Time `json:"until"` // when the number expires
	Team   int64     `json:"team"`  // with the domain where the place is; 0: that of the box office
}

// ReadAbout reads what a row of the outbox keeps.
func ReadAbout(about string) (a About, err error) {
	if err := json.Unmarshal([]byte(about), &a); err != nil {
		return a, fmt.Errorf("turns: read what a mail is about: %w", err)
	}
	return a, nil
}

// A request becomes a mail, in one statement. One that comes too late, as after a failure, tells nothing any more.
const mailSQL = `
WITH due AS (
    SELECT t.id, c.until FROM turn_request t JOIN (` + calledSQL + `) c USING (id)
     WHERE t.email IS NOT NULL AND t.next_try <= clock_timestamp() ORDER BY t.id LIMIT $1 FOR UPDATE OF t SKIP LOCKED
), told AS (
    DELETE FROM turn_request t USING due WHERE t.id = due.id RETURNING t.room_id, t.email, t.language, t.number, t.team_id, due.until
), sent AS (
    INSERT INTO mail (kind, room_id, email, language, about)
    SELECT 'turn', room_id, email, language, json_build_object('number', number, 'until', until, 'team', team_id)::text FROM told WHERE until > clock_timestamp()
)
SELECT count(*) FROM told`

// mail queues the mail of requests with a number that is called.
func (t *Turns) mail(ctx context.Context) (n int, err error) {
	if err := t.db.QueryRow(ctx, mailSQL, atOnce).Scan(&n); err != nil {
		return 0, fmt.Errorf("turns: queue mail: %w", err)
	}
	if n > 0 {
		t.MailWritten()
	}
	return n, nil
}

const (
	purgeRequestsSQL = `
DELETE FROM turn_request t USING room r
 WHERE r.id = t.room_id AND (r.phase = 'ended' OR r.epoch <> t.epoch OR NOT EXISTS (SELECT FROM event WHERE room_id = r.id AND starts_at > clock_timestamp()))`
	purgeEntriesSQL = `
DELETE FROM turn_request t USING entry n WHERE n.id = t.entry_id AND n.state IN ('served', 'left', 'over')`
	// The hash of a receiver counts against the limit of its address for an hour.
	purgeMailSQL = `
DELETE FROM mail WHERE kind = 'turn' AND (coalesce(sent_at, refused_at) < clock_timestamp() - interval '1 hour' OR created_at < clock_timestamp() - interval '1 day')`
)

// purge deletes requests of rooms and entries that ended, and mail that was sent.
func (t *Turns) purge(ctx context.Context) error {
	for _, sql := range []string{purgeRequestsSQL, purgeEntriesSQL, purgeMailSQL} {
		if _, err := t.db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("turns: delete what is over: %w", err)
		}
	}
	return nil
}
