package organizers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/paging"
)

// Kinds of security events.
const (
	SignedIn       = "signed_in"
	SignInFailed   = "sign_in_failed"
	SignInSlowed   = "sign_in_refused" // too many failed before
	SecondFailed   = "second_factor_failed"
	ProofFailed    = "proof_failed"
	RefusedByRole  = "refused_by_role"
	RefusedByTeam  = "refused_by_team" // something of another team, or of none
	KeyRefused     = "key_refused"
	KeyNewNetwork  = "key_from_new_network"
	AccountChanged = "account_changed" // a password, a passkey, a second factor
	TeamChanged    = "team_changed"    // members, roles, keys
	Foreign        = "foreign_request" // from another site, or other than a browser sends
)

// SecurityEvent is something that happened about an account or a team. It holds no secret and no typed text.
type SecurityEvent struct {
	Kind            string
	Organizer, Team int64 // account, 0 for an unknown one; team, 0 for all of the account's
	Network, Agent  string
	Detail          string
}

const (
	reportsAtOnce  = 256 // different events of a minute that a node tells apart; further ones of a kind are one
	gatherSecurity = time.Second
	keepSecurity   = "90 days"
)

// pending is how often an event happened since it was last written, and in which minute.
type pending struct {
	minute time.Time
	n      int
}

// Report notes a security event. It returns at once: equal events are gathered and written together, the first of a minute
// within a second and the rest at the minute's end, so that an attack makes a few rows a minute and not one for each try.
func (d *Desk) Report(e SecurityEvent) {
	d.events.Lock()
	defer d.events.Unlock()
	p := d.happened[e]
	if p == nil {
		if len(d.happened) >= reportsAtOnce {
			e = SecurityEvent{Kind: e.Kind, Detail: "from many places"}
			p = d.happened[e]
		}
		if p == nil {
			p = &pending{minute: time.Now().UTC().Truncate(time.Minute)}
			d.happened[e] = p
			select {
			case d.happenedFirst <- struct{}{}:
			default: // it is about to write
			}
		}
	}
	p.n++
}

// Run writes security events and requests with API keys until ctx is done.
func (d *Desk) Run(ctx context.Context) error {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		over := false
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			d.writeEvents(last, true)
			d.writeRequests(last)
			return ctx.Err()
		case <-minute.C:
			over = true
		case <-d.happenedFirst:
			timer := time.NewTimer(gatherSecurity)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
		if ctx.Err() == nil {
			d.writeEvents(ctx, over)
			d.writeRequests(ctx)
		}
	}
}

const deleteEventsSQL = `DELETE FROM security_event WHERE minute < clock_timestamp() - interval '` + keepSecurity + `'`

const writeEventsSQL = `
INSERT INTO security_event (minute, kind, organizer_id, team_id, network, agent, detail, n)
SELECT * FROM unnest($1::timestamptz[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::integer[]) ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT ON CONSTRAINT "equal security events of a minute are one" DO UPDATE SET n = security_event.n + excluded.n, last_at = clock_timestamp()`

// DeleteOldEvents deletes security events after 90 days.
func (d *Desk) DeleteOldEvents(ctx context.Context) error {
	_, err := d.db.Exec(ctx, deleteEventsSQL)
	return err
}

// writeEvents writes the events that were not written yet; at the end of a minute also how often they were repeated since.
func (d *Desk) writeEvents(ctx context.Context, over bool) { d.write(ctx, over, over) }

// write writes the events that were not written yet, or all, and begins anew if the minute is over.
func (d *Desk) write(ctx context.Context, all, over bool) {
	type written struct {
		e SecurityEvent
		n int
	}
	var list []written
	var minutes []time.Time
	d.events.Lock()
	for e, p := range d.happened {
		if p.n > 0 && (all || !d.wrote[e]) {
			list, minutes = append(list, written{e, p.n}), append(minutes, p.minute)
			p.n = 0
			d.wrote[e] = true
		}
	}
	if over {
		clear(d.happened)
		clear(d.wrote)
	}
	d.events.Unlock()
	if len(list) == 0 {
		return
	}
	var kinds, networks, agents, details []string
	var organizers, teams []int64
	var ns []int
	for _, w := range list {
		kinds, networks, agents, details = append(kinds, w.e.Kind), append(networks, w.e.Network), append(agents, w.e.Agent), append(details, w.e.Detail)
		organizers, teams, ns = append(organizers, w.e.Organizer), append(teams, w.e.Team), append(ns, w.n)
		d.log(ctx, w.e, w.n)
	}
	if _, err := d.db.Exec(ctx, writeEventsSQL, minutes, kinds, organizers, teams, networks, agents, details, ns); err != nil && ctx.Err() == nil {
		d.Log.Error("security events are in this log only", "events", len(list), "error", err)
	}
}

// harmless are the kinds that tell of no refusal.
var harmless = map[string]bool{SignedIn: true, AccountChanged: true, TeamChanged: true, KeyNewNetwork: true}

// log writes one line: who, from where, what, and how often. Organizers and teams are numbers: a log has no addresses.
func (d *Desk) log(ctx context.Context, e SecurityEvent, n int) {
	level := slog.LevelWarn
	if harmless[e.Kind] {
		level = slog.LevelInfo
	}
	d.Log.LogAttrs(ctx, level, "security", slog.Group("security", slog.String("event", e.Kind), slog.Int("count", n),
		slog.Int64("organizer", e.Organizer), slog.Int64("team", e.Team), slog.String("network", e.Network), slog.String("agent", e.Agent), slog.String("detail", e.Detail)))
}

// Happened is a security event as a page shows it.
type Happened struct {
	ID         int64
	At, Last   time.Time
	Kind       string
	Who, Email string // of the account; empty: unknown, or deleted
	Network    string
	Agent      string
	Detail     string
	N          int
}

const happenedColumns = `e.id, e.minute, e.last_at, e.kind, coalesce(o.name, ''), coalesce(o.email, ''), e.network, e.agent, e.detail, e.n`

const teamEventsSQL = `
SELECT ` + happenedColumns + ` FROM security_event e LEFT JOIN (SELECT id, name, email FROM organizer) o ON o.id = e.organizer_id
 WHERE ($1 = 0 OR e.id < $1) AND ($2 = '' OR o.email = $2) ORDER BY e.id DESC LIMIT $3`

// SecurityEvents returns the latest events about a member's team and its members, the last one first, and where the list goes on; nil at its
// end. Of the filter, Email and Page count.
func (d *Desk) SecurityEvents(ctx context.Context, m Member, f Filter) (list []Happened, next *paging.Place, err error) {
	d.write(ctx, true, false) // who looks sees what this node knows
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, teamEventsSQL, f.Page.After.N, f.Email, f.Page.Limit+1)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Happened])
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("organizers: list security events: %w", err)
	}
	list, next = paging.Cut(list, f.Page, func(e Happened) paging.Place { return paging.Place{N: e.ID} })
	return list, next, nil
}

const ownEventsSQL = `
SELECT ` + happenedColumns + ` FROM security_event e JOIN organizer o ON o.id = e.organizer_id
 WHERE e.organizer_id = $1 AND e.team_id = 0 ORDER BY e.id DESC LIMIT 20`

// OwnEvents returns what happened last about a member's own account.
func (d *Desk) OwnEvents(ctx context.Context, m Member) ([]Happened, error) {
	d.write(ctx, true, false)
	rows, err := d.db.Query(ctx, ownEventsSQL, m.Organizer)
	if err != nil {
		return nil, fmt.Errorf("organizers: list own security events: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Happened])
	if err != nil {
		return nil, fmt.Errorf("organizers: list own security events: %w", err)
	}
	return list, nil
}
