package organizers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/paging"
)

// Request is a request that came with an API key, and its answer. It has neither a body nor an address as it was typed.
type Request struct {
	Key     int64
	KeyName string
	ID      int64 // in the log
	At      time.Time
	Method  string
	Route   string // such as /desk/events/{slug}
	Status  int
	Took    time.Duration
	Name    string // of the request, as its answer had it
	Once    []byte // a hash of its Idempotency-Key; nil: it had none
	Repeat  bool   // the same key did the same before
	Code    string // of the error
	Words   string // its message, in English and without what fills it
	Fields  []string
}

const (
	// RequestsOfKey is how many requests of a key are kept, and RequestDays for how long.
	RequestsOfKey = 1000
	RequestDays   = 7

	// RequestRows is how many requests a page usually has.
	RequestRows = 100

	mostNoted = 5000 // requests that wait to be written; more are counted only
)

// NoteRequest has a request written, within a second. It returns at once.
func (d *Desk) NoteRequest(r Request) {
	d.events.Lock()
	defer d.events.Unlock()
	if len(d.requests) >= mostNoted {
		d.unnoted++
		return
	}
	if d.requests = append(d.requests, r); len(d.requests) == 1 {
		select {
		case d.happenedFirst <- struct{}{}:
		default: // it is about to write
		}
	}
}

const writeRequestsSQL = `
INSERT INTO api_request (key_id, at, method, route, status, took, request_id, once, code, words, fields)
SELECT key_id, clock_timestamp() - make_interval(secs => age), method, route, status, took, request_id, once, code, words, string_to_array(fields, ' ')
  FROM unnest($1::bigint[], $2::float8[], $3::text[], $4::text[], $5::smallint[], $6::integer[], $7::text[], $8::bytea[], $9::text[], $10::text[], $11::text[])
    AS n(key_id, age, method, route, status, took, request_id, once, code, words, fields)`

const trimRequestsSQL = `
DELETE FROM api_request r
 USING unnest($1::bigint[]) AS k(id), LATERAL (SELECT id FROM api_request WHERE key_id = k.id ORDER BY id DESC OFFSET $2 LIMIT 1) last
 WHERE r.key_id = k.id AND r.id <= last.id`

// trimEvery is after how many requests of a key this node deletes what is more than is kept.
const trimEvery = RequestsOfKey / 2

// writeRequests writes the requests that were noted.
func (d *Desk) writeRequests(ctx context.Context) {
	d.events.Lock()
	list, unnoted := d.requests, d.unnoted
	d.requests, d.unnoted = nil, 0
	var full []int64
	for _, r := range list {
		if d.written[r.Key]++; d.written[r.Key] >= trimEvery {
			d.written[r.Key], full = 0, append(full, r.Key)
		}
	}
	d.events.Unlock()
	if unnoted > 0 {
		d.Log.Warn("requests with API keys came too fast for their log; some are not in it", "requests", unnoted)
	}
	if len(list) == 0 {
		return
	}
	n := len(list)
	keys, ages, methods, routes, statuses, took := make([]int64, n), make([]float64, n), make([]string, n), make([]string, n), make([]int16, n), make([]int32, n)
	names, once, codes, words, fields := make([]string, n), make([][]byte, n), make([]string, n), make([]string, n), make([]string, n)
	for i, r := range list {
		keys[i], ages[i], methods[i], routes[i], statuses[i], took[i] = r.Key, time.Since(r.At).Seconds(), r.Method, r.Route, int16(r.Status), int32(r.Took.Milliseconds())
		names[i], once[i], codes[i], words[i], fields[i] = r.Name, r.Once, r.Code, r.Words, strings.Join(r.Fields, " ")
	}
	// They are of all teams: that one reader has gone away, or that the node ends, keeps none of them from their log.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := d.db.Exec(ctx, writeRequestsSQL, keys, ages, methods, routes, statuses, took, names, once, codes, words, fields)
	if err != nil {
		d.Log.Error("requests with API keys are not in their log", "requests", n, "error", err)
		return
	}
	if len(full) > 0 {
		if _, err := d.db.Exec(ctx, trimRequestsSQL, full, RequestsOfKey); err != nil {
			d.Log.Warn("old requests with API keys were not deleted from their log", "error", err)
		}
	}
}

const oldRequestsSQL = `
DELETE FROM api_request r
 USING api_key k LEFT JOIN LATERAL (SELECT id FROM api_request WHERE key_id = k.id ORDER BY id DESC OFFSET $2 LIMIT 1) last ON true
 WHERE r.key_id = k.id AND (r.at < clock_timestamp() - make_interval(days => $1) OR r.id <= last.id)`

// DeleteOldRequests deletes requests after a week, and what a key has more than a thousand of.
func (d *Desk) DeleteOldRequests(ctx context.Context) error {
	if _, err := d.db.Exec(ctx, oldRequestsSQL, RequestDays, RequestsOfKey); err != nil {
		return fmt.Errorf("organizers: delete old requests: %w", err)
	}
	return nil
}

// RequestFilter is which requests are asked for.
type RequestFilter struct {
	Key      int64 // 0: of all keys of the team
	From, To int   // statuses; 0 and 0: all
	Page     paging.Page
}

// A repeat is one that came after a request with its Idempotency-Key was done.
const requestsSQL = `
SELECT k.id, k.name, r.id, r.at, r.method, r.route, r.status, r.took, r.request_id, r.once,
       r.status < 400 AND r.once IS NOT NULL AND EXISTS (SELECT FROM api_request b WHERE b.key_id = r.key_id AND b.id < r.id AND b.once = r.once AND b.method = r.method AND b.route = r.route AND b.status < 400),
       r.code, r.words, r.fields
  FROM api_key k, LATERAL (SELECT * FROM api_request q WHERE q.key_id = k.id AND ($3 = 0 OR q.id < $3) AND ($4 = 0 OR q.status BETWEEN $4 AND $5) ORDER BY q.id DESC LIMIT $6) r
 WHERE k.team_id = $1 AND ($2 = 0 OR k.id = $2)
 ORDER BY r.id DESC LIMIT $6`

// ListRequests returns the latest requests with keys of a member's team, the last one first, and where the list goes on; nil at its
// end. A program gets those with its own key.
func (d *Desk) ListRequests(ctx context.Context, m Member, f RequestFilter) (list []Request, next *paging.Place, err error) {
	if m.Key != 0 {
		f.Key = m.Key
	}
	d.writeRequests(ctx) // who looks sees what this node knows
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, requestsSQL, m.Team, f.Key, f.Page.After.N, f.From, f.To, f.Page.Limit+1)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Request, err error) {
			var took int64
			err = row.Scan(&r.Key, &r.KeyName, &r.ID, &r.At, &r.Method, &r.Route, &r.Status, &took, &r.Name, &r.Once, &r.Repeat, &r.Code, &r.Words, &r.Fields)
			r.Took = time.Duration(took) * time.Millisecond
			return r, err
		})
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("organizers: list requests: %w", err)
	}
	list, next = paging.Cut(list, f.Page, func(r Request) paging.Place { return paging.Place{N: r.ID} })
	return list, next, nil
}
