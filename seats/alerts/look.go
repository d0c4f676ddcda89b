package alerts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
)

// Mail is the kind of a mail about alerts.
const Mail = "alert"

// Alerts are the alerts of all teams, on one node. Set Raised before its jobs run.
type Alerts struct {
	Raised func() // called after a commit that may have written mail and webhook deliveries; must return at once

	db   *pgxpool.Pool
	desk *organizers.Desk
	over *overview.Overview
	job  *jobs.Job
}

// dueSQL lists the teams to look at: each a minute after the last time.
const dueSQL = `
SELECT t.team_id::text, coalesce(l.looked_at + interval '1 minute', clock_timestamp())
  FROM (SELECT team_id FROM alert_choice WHERE kinds <> '{}'
         UNION SELECT team_id FROM hook WHERE removed_at IS NULL AND off_at IS NULL AND 'alert.raised' = ANY (kinds)) t
  LEFT JOIN alert_look l ON l.team_id = t.team_id`

// New returns the alerts of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk, o *orders.Orders) *Alerts {
	a := &Alerts{Raised: func() {}, db: db, desk: desk, over: overview.New(desk, o)}
	a.job = jobs.New("alerts", dueSQL, a.look)
	return a
}

const forgetSQL = `DELETE FROM alert WHERE ended_at < clock_timestamp() - interval '90 days'`

// Jobs returns the jobs: looking for alerts, and deleting old ones.
func (a *Alerts) Jobs() []*jobs.Job {
	return []*jobs.Job{a.job, jobs.Hourly("delete old alerts", func(ctx context.Context) error {
		_, err := a.db.Exec(ctx, forgetSQL)
		return err
	})}
}

// takeSQL takes a team for one node.
const takeSQL = `
INSERT INTO alert_look AS l (team_id) VALUES ($1)
    ON CONFLICT (team_id) DO UPDATE SET looked_at = clock_timestamp() WHERE l.looked_at <= clock_timestamp() - interval '1 minute'`

// look raises what began in a team since the last time, ends what is over, and mails.
func (a *Alerts) look(ctx context.Context, key string) (int, error) {
	team, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("alerts: %q: %w", key, err)
	}
	taken, err := a.db.Exec(ctx, takeSQL, team)
	if err != nil || taken.RowsAffected() == 0 {
		return 0, err // another node looks
	}
	m := organizers.Member{Team: team, Role: organizers.Owner} // the program itself: who gets what is decided for each mail
	causes, err := a.found(ctx, m)
	if err != nil {
		return 0, fmt.Errorf("alerts: look at team %d: %w", team, err)
	}
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		if err := settle(ctx, tx, team, causes); err != nil {
			return err
		}
		return mailDue(ctx, tx, team)
	})
	if err != nil {
		return 0, fmt.Errorf("alerts: tell team %d: %w", team, err)
	}
	a.Raised()
	return 1, nil
}

const raiseSQL = `
INSERT INTO alert (team_id, event_id, kind, cause, about)
SELECT $1, (SELECT id FROM event WHERE slug = nullif(c.slug, '')), c.kind, c.cause, c.about
  FROM unnest($2::text[], $3::text[], $4::text[], $5::jsonb[]) AS c(slug, kind, cause, about) ORDER BY c.cause
    ON CONFLICT (team_id, cause) WHERE ended_at IS NULL DO NOTHING`

const endSQL = `UPDATE alert SET ended_at = clock_timestamp() WHERE team_id = $1 AND ended_at IS NULL AND cause <> ALL ($2)`

// settle raises the causes that are new, and ends those that are not there any more.
func settle(ctx context.Context, tx pgx.Tx, team int64, causes map[string]overview.Need) error {
	slugs, kinds, names, abouts := []string{}, []string{}, []string{}, []string{}
	for cause, n := range causes {
		about, err := json.Marshal(aboutOf(n))
		if err != nil {
			return err
		}
		slugs, kinds, names, abouts = append(slugs, n.Event), append(kinds, n.Kind), append(names, cause), append(abouts, string(about))
	}
	if _, err := tx.Exec(ctx, endSQL, team, names); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, raiseSQL, team, slugs, kinds, names, abouts)
	return err
}

const readersSQL = `
SELECT o.email, m.role, c.kinds
  FROM alert_choice c JOIN member m ON m.team_id = c.team_id AND m.organizer_id = c.organizer_id JOIN organizer o ON o.id = c.organizer_id
 WHERE c.team_id = $1 ORDER BY o.id`

// reader is a member who chose alerts.
type reader struct {
	Email string
	Role  organizers.Role
	Kinds []Kind
}

// gets reports whether a reader is told of needs of a kind: they chose it, and their role may see it now.
func (r reader) gets(need string) bool {
	kind := kindOf[need]
	return slices.Contains(r.Kinds, kind) && r.Role.May(needs[kind])
}

// An alert of an event that was mailed about within half an hour waits for the end of that time, and is mailed if it still lasts.
const mailDueSQL = `
UPDATE alert a SET mailed_at = clock_timestamp()
 WHERE a.team_id = $1 AND a.ended_at IS NULL AND a.mailed_at IS NULL AND a.kind = ANY ($2)
   AND NOT EXISTS (SELECT FROM alert b WHERE b.team_id = $1 AND b.event_id IS NOT DISTINCT FROM a.event_id AND b.mailed_at > clock_timestamp() - interval '30 minutes')
RETURNING a.id, a.kind`

// The outbox writes it in the language in which the member reads the desk.
const mailSQL = `INSERT INTO mail (kind, email, about) VALUES ('alert', $1, $2)`

// mailDue writes one mail for each member who chose alerts that are to be mailed now.
func mailDue(ctx context.Context, tx pgx.Tx, team int64) error {
	rows, err := tx.Query(ctx, readersSQL, team)
	if err != nil {
		return err
	}
	readers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reader])
	if err != nil {
		return err
	}
	chosen := []string{}
	for need := range kindOf {
		if slices.ContainsFunc(readers, func(r reader) bool { return r.gets(need) }) {
			chosen = append(chosen, need)
		}
	}
	type raised struct {
		ID   int64
		Kind string
	}
	if rows, err = tx.Query(ctx, mailDueSQL, team, chosen); err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[raised])
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b raised) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range readers {
		var theirs []int64
		for _, one := range list {
			if r.gets(one.Kind) {
				theirs = append(theirs, one.ID)
			}
		}
		if len(theirs) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, mailSQL, r.Email, mailed{team, theirs}.String()); err != nil {
			return err
		}
	}
	return nil
}

// mailed is what a mail is about: alerts of a team; none: a try.
type mailed struct {
	team int64
	ids  []int64
}

// String is how the outbox keeps it, such as 7:12,13.
func (m mailed) String() string {
	ids := make([]string, len(m.ids))
	for i, id := range m.ids {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return strconv.FormatInt(m.team, 10) + ":" + strings.Join(ids, ",")
}

func readMailed(about string) (m mailed, err error) {
	team, ids, _ := strings.Cut(about, ":")
	if m.team, err = strconv.ParseInt(team, 10, 64); err != nil || ids == "" {
		return m, err
	}
	for id := range strings.SplitSeq(ids, ",") {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return m, err
		}
		m.ids = append(m.ids, n)
	}
	return m, nil
}
