package organizers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Member is an organizer in a team.
type Member struct {
	Organizer, Team       int64
	Name, Email, TeamName string
	Role                  Role
	Teams                 []Team     // all of the organizer's, by name
	Key                   int64      // by which a program works in their name; 0 for they themselves
	KeyName               string     // of that key
	Allocation            Allocation // the key sells these seats in the shop, and opens nothing else; zero: it does not
	Test                  bool       // they work in a test sale, and see no other event
	scopes                []Scope

	From    Client // where the request comes from
	Session int64  // by which they themselves work
	Second  bool   // they showed a second factor in it
	Proved  bool   // they showed who they are within ProofLasts
	Codes   bool   // an app makes codes for them
	Keyed   bool   // they have a passkey
	Demands bool   // the team demands a second factor
	stale   bool   // the session's use was not noted for a while
}

// Owns reports whether an event is one of the member's team, and a test sale if they work in one.
func (m Member) Owns(e seats.Event) bool { return e.Team == m.Team && (e.TestOf != 0) == m.Test }

// HasSecond reports whether the member has a second factor to show.
func (m Member) HasSecond() bool { return m.Codes || m.Keyed }

// Allocation is the reserved seats of an event that a partner sells: those that a code unlocks. Zero: none.
type Allocation struct {
	Event string // slug
	Code  string // as it is compared
}

// MaySellFor reports whether a program may sell in the shop by the key of the member.
func (m Member) MaySellFor() bool {
	return m.May(Sell) || m.Allocation != (Allocation{}) && m.Role.May(Sell)
}

// May reports whether the member may do what needs need; by a key, whether it opens that, too.
func (m Member) May(need Need) bool {
	return m.Role.May(need) && m.Allocation == (Allocation{}) && (m.Key == 0 || need == Enter || slices.Contains(m.scopes, scoped[need]))
}

// Team is some people and their events.
type Team struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Session is what a browser's session keeps of the organizer who signed in with it.
type Session struct {
	Organizer int64
	Epoch     int   // of the organizer when they signed in: another one has signed all sessions out
	Team      int64 // the one they look at; 0: any
	ID        int64 // of the session; 0: it has not begun
}

// Why a request is refused.
var (
	ErrSignedOut = errors.New("not signed in")
	ErrNotYours  = errors.New("there is nothing of that name in a team of yours")
	ErrNoTeam    = errors.New("the organizer is in no team")
)

const memberColumns = `o.id, o.name, o.email,
       (SELECT coalesce(json_agg(json_build_object('id', t.id, 'name', t.name) ORDER BY t.name, t.id), '[]')
          FROM member m JOIN team t ON t.id = m.team_id WHERE m.organizer_id = o.id),
       coalesce(t.id, 0), coalesce(t.name, ''), coalesce(m.role, ''), s.id, s.second, s.proved_at > clock_timestamp() - interval '10 minutes',
       EXISTS (SELECT FROM totp WHERE organizer_id = o.id AND confirmed_at IS NOT NULL), EXISTS (SELECT FROM passkey WHERE organizer_id = o.id),
       coalesce(t.second_factor, false), s.seen_at < clock_timestamp() - interval '5 minutes'`

const memberSQL = `
SELECT ` + memberColumns + `, false
  FROM desk_session s JOIN organizer o ON o.id = s.organizer_id
  LEFT JOIN member m ON m.organizer_id = o.id
  LEFT JOIN team t ON t.id = m.team_id
 WHERE s.id = $1 AND o.id = $2 AND o.epoch = $3 AND ` + openSession + `
 ORDER BY m.team_id = $4 DESC, m.team_id
 LIMIT 1`

const memberOfEventSQL = `
SELECT ` + memberColumns + `, coalesce(e.test_of IS NOT NULL, false)
  FROM desk_session s JOIN organizer o ON o.id = s.organizer_id
  LEFT JOIN event e ON e.slug = $4
  LEFT JOIN member m ON m.organizer_id = o.id AND m.team_id = e.team_id
  LEFT JOIN team t ON t.id = m.team_id
 WHERE s.id = $1 AND o.id = $2 AND o.epoch = $3 AND ` + openSession

// NeedsSecond reports whether only a second factor lets the member prove who they are.
func (m Member) NeedsSecond() bool { return m.Codes || m.Keyed && m.Demands }

// IsProved reports whether the member showed who they are within ProofLasts, with a second factor if they need one.
func (m Member) IsProved() bool { return m.Key != 0 || m.Proved && (m.Second || !m.NeedsSecond()) }

// Member returns who a session is, as of now: in the team of the event with this slug, or, if event is empty, in the team
// they look at.
//
// Errors: ErrSignedOut if the session has ended; ErrNotYours if there is no such event in a team of theirs;
// ErrNoTeam if they are in none; the database's.
func (d *Desk) Member(ctx context.Context, s Session, event string) (m Member, err error) {
	var row pgx.Row
	if event == "" {
		row = d.db.QueryRow(ctx, memberSQL, s.ID, s.Organizer, s.Epoch, s.Team)
	} else {
		row = d.db.QueryRow(ctx, memberOfEventSQL, s.ID, s.Organizer, s.Epoch, event)
	}
	err = row.Scan(&m.Organizer, &m.Name, &m.Email, &m.Teams, &m.Team, &m.TeamName, &m.Role,
		&m.Session, &m.Second, &m.Proved, &m.Codes, &m.Keyed, &m.Demands, &m.stale, &m.Test)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Member{}, ErrSignedOut
	case err != nil:
		return Member{}, fmt.Errorf("organizers: who is it: %w", err)
	case m.Team == 0 && event == "":
		return m, ErrNoTeam
	case m.Team == 0:
		return m, ErrNotYours
	}
	return m, nil
}
