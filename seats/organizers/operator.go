package organizers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const operatorSQL = `SELECT id, name FROM team WHERE name = $1 OR $1 = '' ORDER BY id LIMIT 1`

// Operator is a person at the command line: an owner of every team, with no account. An empty name is
// the first team. ErrNoTeam if there is none of that name.
func (d *Desk) Operator(ctx context.Context, team string) (m Member, err error) {
	m = Member{Name: operatorName, Role: Owner}
	err = d.db.QueryRow(ctx, operatorSQL, team).Scan(&m.Team, &m.TeamName)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, ErrNoTeam
	}
	if err != nil {
		return m, fmt.Errorf("organizers: look for a team: %w", err)
	}
	return m, nil
}

const severalSQL = `SELECT count(*) > 1 FROM (SELECT FROM team LIMIT 2) t`

// Several reports whether there is more than one team.
func (d *Desk) Several(ctx context.Context) (several bool, err error) {
	if err := d.db.QueryRow(ctx, severalSQL).Scan(&several); err != nil {
		return false, fmt.Errorf("organizers: count teams: %w", err)
	}
	return several, nil
}

// operatorName is who did something by the command line, in the log.
const operatorName = "the operator"

const everybodySQL = `
SELECT o.id, coalesce(t.id, 0), o.name, o.email, coalesce(t.name, ''), coalesce(m.role, '')
  FROM organizer o LEFT JOIN member m ON m.organizer_id = o.id LEFT JOIN team t ON t.id = m.team_id
 ORDER BY o.name, o.id, t.name`

// Everybody lists every organizer once for each of their teams, and once without one if they are in none.
func (d *Desk) Everybody(ctx context.Context) ([]Member, error) {
	rows, err := d.db.Query(ctx, everybodySQL)
	if err != nil {
		return nil, fmt.Errorf("organizers: list organizers: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		return m, row.Scan(&m.Organizer, &m.Team, &m.Name, &m.Email, &m.TeamName, &m.Role)
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list organizers: %w", err)
	}
	return list, nil
}
