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

// MailInvitation is the kind of mail that invites an organizer to a team.
const MailInvitation = "invitation"

// Invitation is an open one: not accepted and not withdrawn.
type Invitation struct {
	ID        int64
	Email     string
	Role      Role
	ExpiresAt time.Time
	Over      bool // its time is up: inviting them again gives it another week
}

const invitationsSQL = `
SELECT id, email, role, expires_at, expires_at <= clock_timestamp()
  FROM invitation WHERE team_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL ORDER BY email`

// Invitations lists the open invitations to a member's team.
func (d *Desk) Invitations(ctx context.Context, m Member) (list []Invitation, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, invitationsSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Invitation])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list invitations: %w", err)
	}
	return list, nil
}

const isMemberSQL = `SELECT EXISTS (SELECT FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE m.team_id = $1 AND o.email = $2)`

const inviteSQL = `
INSERT INTO invitation (team_id, email, role) VALUES ($1, $2, $3)
    ON CONFLICT (team_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL
    DO UPDATE SET role = excluded.role, token = NULL, created_at = clock_timestamp(), expires_at = clock_timestamp() + interval '7 days'
RETURNING id`

const mailInvitationSQL = `INSERT INTO mail (email, kind, invitation_id, language) VALUES ($1, 'invitation', $2, $3)`

// Invite asks the owner of an address by mail to join the team in a role. A second invitation replaces the first, which
// opens nothing then.
//
// Errors: Mistakes, also if they are a member already; those of Once; the database's.
func (d *Desk) Invite(ctx context.Context, m Member, email string, role Role, key string) error {
	email, err := invitable(email, role)
	if err != nil {
		return err
	}
	done := false
	err = d.Change(ctx, m, key, []any{"invite", email, role}, func(tx pgx.Tx) error {
		id, err := invite(ctx, tx, m, email, role)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, mailInvitationSQL, email, id, reads(ctx)); err != nil {
			return err
		}
		done = true
		return TellOwners(m, NoticeInvited, email, string(role)).Run(ctx, tx)
	})
	if err == nil && done {
		d.teamChanged(m, "invited as "+string(role))
	}
	return err
}

// InviteLink is Invite for the command line: it sends no mail, and returns the token of the link.
func (d *Desk) InviteLink(ctx context.Context, m Member, email string, role Role) (token string, err error) {
	email, err = invitable(email, role)
	if err != nil {
		return "", err
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		id, err := invite(ctx, tx, m, email, role)
		if err != nil {
			return err
		}
		var hash []byte
		token, hash = newToken()
		_, err = tx.Exec(ctx, invitationTokenSQL, id, hash)
		return err
	})
	return token, err
}

func invitable(typed string, role Role) (email string, err error) {
	var wrong Mistakes
	email, ok := seats.NormalEmail(typed)
	if !ok {
		wrong = append(wrong, Mistake{Field: FieldEmail, Message: text.Mark("Enter an email address in the format name@example.com.")})
	}
	if !role.Known() {
		wrong = append(wrong, Mistake{Field: FieldRole, Message: text.Mark("Choose one of the roles.")})
	}
	return email, wrong.orNil()
}

func invite(ctx context.Context, tx pgx.Tx, m Member, email string, role Role) (id int64, err error) {
	var already bool
	if err := tx.QueryRow(ctx, isMemberSQL, m.Team, email).Scan(&already); err != nil {
		return 0, fmt.Errorf("organizers: invite: %w", err)
	}
	if already {
		return 0, Mistakes{{Field: FieldEmail, Message: text.Mark("They are a member of this team already. Change their role in the list.")}}
	}
	if err := tx.QueryRow(ctx, inviteSQL, m.Team, email, role).Scan(&id); err != nil {
		return 0, fmt.Errorf("organizers: invite: %w", err)
	}
	return id, Note(ctx, tx, m, text.Mark("invited"), "team/"+email, map[string]Role{"role": role})
}

const withdrawSQL = `
UPDATE invitation SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE team_id = $1 AND id = $2 AND accepted_at IS NULL RETURNING email`

// Withdraw takes an invitation back: its link opens nothing any more.
//
// Errors: ErrNotYours if there is none that is open; those of Once; the database's.
func (d *Desk) Withdraw(ctx context.Context, m Member, id int64, key string) error {
	done := false
	err := d.Change(ctx, m, key, []any{"withdraw", id}, func(tx pgx.Tx) error {
		var email string
		err := tx.QueryRow(ctx, withdrawSQL, m.Team, id).Scan(&email)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotYours
		}
		if err != nil {
			return fmt.Errorf("organizers: withdraw an invitation: %w", err)
		}
		if err := TellOwners(m, NoticeWithdrawn, email).Run(ctx, tx); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, text.Mark("withdrew the invitation"), "team/"+email, nil)
	})
	if err == nil && done {
		d.teamChanged(m, "invitation withdrawn")
	}
	return err
}

// Invited is an invitation as the page behind its link shows it.
type Invited struct {
	id        int64
	Team      int64
	TeamName  string
	Email     string
	Role      Role
	Organizer int64 // the organizer with this address; 0 for none
}

const invitedColumns = `i.id, i.team_id, t.name, i.email, i.role, coalesce((SELECT id FROM organizer WHERE email = i.email), 0)`

const openInvitation = `i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > clock_timestamp()`

const invitationTokenSQL = `UPDATE invitation SET token = $2 WHERE id = $1`

const mailedInvitationSQL = `
UPDATE invitation i SET token = $2 FROM team t
 WHERE i.id = $1 AND t.id = i.team_id AND ` + openInvitation + `
RETURNING ` + invitedColumns

// InvitationMail makes the token of an invitation's link, and takes the one before it back. It is called for each try to
// send the mail. ErrNoLink if it is not open any more.
func (d *Desk) InvitationMail(ctx context.Context, id int64) (token string, i Invited, err error) {
	token, hash := newToken()
	i, err = d.invited(ctx, mailedInvitationSQL, id, hash)
	return token, i, err
}

const invitationSQL = `SELECT ` + invitedColumns + ` FROM invitation i JOIN team t ON t.id = i.team_id WHERE i.token = $1 AND ` + openInvitation

// Invitation tells what a link invites to. ErrNoLink if it is unknown, used, withdrawn or too old.
func (d *Desk) Invitation(ctx context.Context, token string) (Invited, error) {
	return d.invited(ctx, invitationSQL, tokenHash(token))
}

func (d *Desk) invited(ctx context.Context, sql string, args ...any) (i Invited, err error) {
	err = i.scan(d.db.QueryRow(ctx, sql, args...))
	if errors.Is(err, pgx.ErrNoRows) {
		return i, ErrNoLink
	}
	if err != nil {
		return i, fmt.Errorf("organizers: look at an invitation: %w", err)
	}
	return i, nil
}

// scan reads the invitedColumns of a row.
func (i *Invited) scan(row pgx.Row) error {
	return row.Scan(&i.id, &i.Team, &i.TeamName, &i.Email, &i.Role, &i.Organizer)
}

const acceptSQL = `
UPDATE invitation i SET accepted_at = clock_timestamp(), token = NULL FROM team t
 WHERE i.token = $1 AND t.id = i.team_id AND ` + openInvitation + `
RETURNING ` + invitedColumns

// Join uses an invitation up for an organizer who is signed in and has its address.
//
// Errors: ErrNoLink; ErrNotYours if it is for another address; the database's.
func (d *Desk) Join(ctx context.Context, token string, s Session) (Session, error) {
	err := d.accept(ctx, token, func(_ pgx.Tx, i Invited) (int64, string, error) {
		if i.Organizer == 0 || i.Organizer != s.Organizer {
			return 0, "", ErrNotYours
		}
		s.Team = i.Team
		return s.Organizer, "", nil
	})
	return s, err
}

// JoinAs uses an invitation up for a new organizer, with its address.
//
// Errors: ErrNoLink; ErrNotYours if an organizer has the address already; Mistakes, and the link stays good; the database's.
func (d *Desk) JoinAs(ctx context.Context, token string, n Newcomer) (s Session, err error) {
	i, err := d.Invitation(ctx, token)
	if err != nil {
		return s, err
	}
	n.Email, n.team = i.Email, i.TeamName
	if err := n.check(); err != nil {
		return s, err
	}
	hash, err := d.hash(ctx, n.Password)
	if err != nil {
		return s, err
	}
	err = d.accept(ctx, token, func(tx pgx.Tx, i Invited) (int64, string, error) {
		if s, err = create(ctx, tx, n, hash); errors.Is(err, errKnown) {
			return 0, "", ErrNotYours
		}
		s.Team = i.Team
		return s.Organizer, n.Name, err
	})
	return s, err
}

const organizerNameSQL = `SELECT name FROM organizer WHERE id = $1`

// accept adds the organizer that who returns to the team. It runs as the owner of the tables: they are no member yet.
func (d *Desk) accept(ctx context.Context, token string, who func(pgx.Tx, Invited) (organizer int64, name string, err error)) error {
	err := pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		var i Invited
		err := i.scan(tx.QueryRow(ctx, acceptSQL, tokenHash(token)))
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoLink
		}
		if err != nil {
			return fmt.Errorf("organizers: accept an invitation: %w", err)
		}
		m := Member{Email: i.Email}
		if m.Organizer, m.Name, err = who(tx, i); err != nil {
			return err
		}
		if m.Name == "" {
			if err := tx.QueryRow(ctx, organizerNameSQL, m.Organizer).Scan(&m.Name); err != nil {
				return fmt.Errorf("organizers: accept an invitation: %w", err)
			}
		}
		return joined(ctx, tx, m, i)
	})
	if err == nil {
		d.wake()
	}
	return err
}

const joinSQL = `INSERT INTO member (team_id, organizer_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

// joined adds an organizer to the team that they accepted an invitation of, notes it, and tells the owners.
func joined(ctx context.Context, tx pgx.Tx, m Member, i Invited) error {
	m.Team, m.TeamName = i.Team, i.TeamName
	if _, err := tx.Exec(ctx, joinSQL, i.Team, m.Organizer, i.Role); err != nil {
		return fmt.Errorf("organizers: accept an invitation: %w", err)
	}
	if err := TellOwners(m, NoticeJoined, string(i.Role)).Run(ctx, tx); err != nil {
		return err
	}
	return Note(ctx, tx, m, text.Mark("joined"), "team/"+m.Email, map[string]Role{"role": i.Role})
}
