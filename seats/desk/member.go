package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Member is an organizer in a team.
type Member struct {
	Organizer, Team       int64
	Name, Email, TeamName string
	Role                  Role
	Teams                 []Team // all of the organizer's, by name
	Key                   int64  // by which a program works in their name; 0 for they themselves
	scopes                []Scope
}

// May tells whether the member may do what needs need; by a key, whether it opens that, too.
func (m Member) May(need Need) bool {
	return m.Role.May(need) && (m.Key == 0 || need == Enter || slices.Contains(m.scopes, scoped[need]))
}

// Team is some people and their events.
type Team struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Session is what a browser's session keeps of who signed in with it.
type Session struct {
	Organizer int64
	Epoch     int   // of the organizer when they signed in: another one has signed all sessions out
	Team      int64 // the one they look at; 0: any
}

// Why somebody does not get in.
var (
	ErrSignedOut = errors.New("nobody is signed in")
	ErrNotYours  = errors.New("there is nothing of that name in a team of yours")
	ErrNoTeam    = errors.New("the organizer is in no team")
)

const organizerColumns = `o.id, o.name, o.email,
       (SELECT coalesce(json_agg(json_build_object('id', t.id, 'name', t.name) ORDER BY t.name, t.id), '[]')
          FROM member m JOIN team t ON t.id = m.team_id WHERE m.organizer_id = o.id)`

const memberSQL = `
SELECT ` + organizerColumns + `, coalesce(t.id, 0), coalesce(t.name, ''), coalesce(m.role, '')
  FROM organizer o
  LEFT JOIN member m ON m.organizer_id = o.id
  LEFT JOIN team t ON t.id = m.team_id
 WHERE o.id = $1 AND o.epoch = $2
 ORDER BY m.team_id = $3 DESC, m.team_id
 LIMIT 1`

const memberOfEventSQL = `
SELECT ` + organizerColumns + `, coalesce(t.id, 0), coalesce(t.name, ''), coalesce(m.role, '')
  FROM organizer o
  LEFT JOIN event e ON e.slug = $3
  LEFT JOIN member m ON m.organizer_id = o.id AND m.team_id = e.team_id
  LEFT JOIN team t ON t.id = m.team_id
 WHERE o.id = $1 AND o.epoch = $2`

// Member returns who a session is, as of now: in the team of the event with this slug, or, if event is empty, in the team
// they look at.
//
// Errors: ErrSignedOut if the session is nobody's any more; ErrNotYours if there is no such event in a team of theirs;
// ErrNoTeam if they are in none; the database's.
func (d *Desk) Member(ctx context.Context, s Session, event string) (m Member, err error) {
	var row pgx.Row
	if event == "" {
		row = d.db.QueryRow(ctx, memberSQL, s.Organizer, s.Epoch, s.Team)
	} else {
		row = d.db.QueryRow(ctx, memberOfEventSQL, s.Organizer, s.Epoch, event)
	}
	err = row.Scan(&m.Organizer, &m.Name, &m.Email, &m.Teams, &m.Team, &m.TeamName, &m.Role)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Member{}, ErrSignedOut
	case err != nil:
		return Member{}, fmt.Errorf("desk: who is it: %w", err)
	case m.Team == 0 && event == "":
		return m, ErrNoTeam
	case m.Team == 0:
		return m, ErrNotYours
	}
	return m, nil
}
