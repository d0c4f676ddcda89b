package organizers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Colleague is a member as the others of the team see them.
type Colleague struct {
	Organizer   int64
	Name, Email string
	Role        Role
	Since       time.Time
}

const colleaguesSQL = `
SELECT o.id, o.name, o.email, m.role, m.since
  FROM member m JOIN organizer o ON o.id = m.organizer_id
 WHERE m.team_id = $1
 ORDER BY array_position('{owner,manager,viewer,door}', m.role), o.name, o.id`

// Colleagues lists the members of a member's team, those who may do most first.
func (d *Desk) Colleagues(ctx context.Context, m Member) (list []Colleague, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, colleaguesSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Colleague])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list members: %w", err)
	}
	return list, nil
}

// ErrLastOwner is a change that would leave the team without an owner.
var ErrLastOwner = errors.New("the team would have no owner")

// Change does what a form asks for, once, behind the second wall. do writes the audit entry. Errors of do come through.
func (d *Desk) Change(ctx context.Context, m Member, key string, asked []any, do func(tx pgx.Tx) error) error {
	form, err := m.key(key, asked...)
	if err != nil {
		return err
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		first, _, err := form.Take(ctx, tx, nil)
		if err != nil || !first {
			return err
		}
		return do(tx)
	})
	if seats.IsConstraint(err, "a team keeps an owner") {
		return ErrLastOwner
	}
	return err
}

const setRoleSQL = `UPDATE member SET role = $3 WHERE team_id = $1 AND organizer_id = $2 AND role <> $3`

const colleagueSQL = `SELECT o.id, o.name, o.email, m.role, m.since FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE m.team_id = $1 AND m.organizer_id = $2`

// colleague returns a member of the team; ErrNotYours if there is none.
func colleague(ctx context.Context, tx pgx.Tx, m Member, organizer int64) (c Colleague, err error) {
	rows, err := tx.Query(ctx, colleagueSQL, m.Team, organizer)
	if err != nil {
		return c, err
	}
	c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Colleague])
	if errors.Is(err, pgx.ErrNoRows) {
		return c, ErrNotYours
	}
	return c, err
}

// SetRole gives a member of the team another role, from now on and on all nodes.
//
// Errors: ErrLastOwner; ErrNotYours if they are no member; Mistakes; those of idempotency.Key.Take; the database's.
func (d *Desk) SetRole(ctx context.Context, m Member, organizer int64, role Role, key string) error {
	if !role.Known() {
		return Mistakes{{Field: FieldRole, Message: text.Mark("Choose one of the roles.")}}
	}
	done := false
	err := d.Change(ctx, m, key, []any{"role", organizer, role}, func(tx pgx.Tx) error {
		c, err := colleague(ctx, tx, m, organizer)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, setRoleSQL, m.Team, organizer, role)
		if err != nil || tag.RowsAffected() == 0 { // 0: they have it
			return err
		}
		if err := tellMember(ctx, tx, c, role, "Your role in the team "+m.TeamName+" is now "+string(role)+"."); err != nil {
			return err
		}
		if err := TellOwners(m, NoticeRole, c.Name, c.Email, string(role)).Run(ctx, tx); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, text.Mark("gave a role"), "team/"+c.Email, map[string]Role{"role": role, "before": c.Role})
	})
	if err == nil && done {
		d.teamChanged(m, "role "+string(role))
	}
	return err
}

const removeMemberSQL = `DELETE FROM member WHERE team_id = $1 AND organizer_id = $2`

// Remove takes a member out of the team; they are out at once, on all nodes.
//
// Errors: ErrLastOwner; ErrNotYours if they are no member; those of idempotency.Key.Take; the database's.
func (d *Desk) Remove(ctx context.Context, m Member, organizer int64, key string) error {
	done := false
	err := d.Change(ctx, m, key, []any{"remove", organizer}, func(tx pgx.Tx) error {
		c, err := colleague(ctx, tx, m, organizer)
		if err != nil {
			return err
		}
		if err := tellMember(ctx, tx, c, c.Role, "You are no longer in the team "+m.TeamName+"."); err != nil {
			return err
		}
		if err := TellOwners(m, NoticeRemoved, c.Name, c.Email).Run(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, removeMemberSQL, m.Team, organizer); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, text.Mark("removed"), "team/"+c.Email, map[string]Role{"before": c.Role})
	})
	if err == nil && done {
		d.teamChanged(m, "member removed")
	}
	return err
}

const demandSQL = `UPDATE team SET second_factor = $2 WHERE id = $1 AND second_factor <> $2`

// Demand says whether every member of the team needs a second factor. Errors: those of idempotency.Key.Take; the database's.
func (d *Desk) Demand(ctx context.Context, m Member, on bool, key string) error {
	what, notice := text.Mark("stopped demanding a second factor"), NoticeDemandsNot
	if on {
		what, notice = text.Mark("demanded a second factor"), NoticeDemands
	}
	done := false
	err := d.Change(ctx, m, key, []any{"second factor", on}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, demandSQL, m.Team, on)
		if err != nil || tag.RowsAffected() == 0 { // 0: it does
			return err
		}
		if err := TellOwners(m, notice).Run(ctx, tx); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, what, "team", nil)
	})
	if err == nil && done {
		d.teamChanged(m, what)
	}
	return err
}

const renameTeamSQL = `UPDATE team SET name = $2 WHERE id = $1 AND name <> $2`

// Rename gives the team another name. Errors: Mistakes; those of idempotency.Key.Take; the database's.
func (d *Desk) Rename(ctx context.Context, m Member, name, key string) error {
	name, wrong := tidyName(name, mostTeam)
	if wrong != nil {
		return wrong
	}
	done := false
	err := d.Change(ctx, m, key, []any{"rename", name}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, renameTeamSQL, m.Team, name)
		if err != nil || tag.RowsAffected() == 0 { // 0: it has it
			return err
		}
		if err := TellOwners(m, NoticeRenamed, name).Run(ctx, tx); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, text.Mark("renamed the team"), "team", map[string]string{"name": name, "before": m.TeamName})
	})
	if err == nil && done {
		d.teamChanged(m, "name")
	}
	return err
}

const newTeamSQL = `INSERT INTO team (name) VALUES ($1) RETURNING id`

// NewTeam makes another team, of which the member is the owner, and returns it; 0 for a repeat. It has no events yet.
//
// Errors: Mistakes; those of idempotency.Key.Take; the database's.
func (d *Desk) NewTeam(ctx context.Context, m Member, name, key string) (team int64, err error) {
	name, wrong := tidyName(name, mostTeam)
	if wrong != nil {
		return 0, wrong
	}
	form, err := m.key(key, "team", name)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error { // no wall: the team has no members yet
		first, _, err := form.Take(ctx, tx, nil)
		if err != nil || !first {
			return err
		}
		if err := tx.QueryRow(ctx, newTeamSQL, name).Scan(&team); err != nil {
			return fmt.Errorf("organizers: make a team: %w", err)
		}
		if _, err := tx.Exec(ctx, addMemberSQL, team, m.Organizer, Owner); err != nil {
			return fmt.Errorf("organizers: make a team: %w", err)
		}
		m.Team = team
		return Note(ctx, tx, m, text.Mark("made the team"), "team", map[string]string{"name": name})
	})
	return team, err
}
