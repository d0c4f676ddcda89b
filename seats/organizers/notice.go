package organizers

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// MailSecurity is the kind of mail that tells of a change to an account or a team.
const MailSecurity = "security"

const mailAccountSQL = `INSERT INTO mail (email, kind, about) VALUES ($1, 'security', $2)`

const mailOwnersSQL = `
INSERT INTO mail (email, kind, about)
SELECT o.email, 'security', $2 FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE m.team_id = $1 AND m.role = 'owner'`

// where says from where a member did something, for mails.
func (m Member) where() string {
	switch {
	case m.From.Agent != "" && m.From.Network != "":
		return " It was done in " + m.From.Agent + ", from the network " + m.From.Network + "."
	case m.From.Network != "":
		return " It was done from the network " + m.From.Network + "."
	}
	return ""
}

// accountChanged notes a change to a member's account in the logs of their teams and tells them by mail. The caller wakes
// the outbox and reports the event once it committed; see changed.
func (d *Desk) accountChanged(ctx context.Context, tx pgx.Tx, m Member, what, words string) error {
	if _, err := tx.Exec(ctx, noteEverywhereSQL, m.Organizer, what); err != nil {
		return fmt.Errorf("organizers: note %q: %w", what, err)
	}
	if _, err := tx.Exec(ctx, mailAccountSQL, m.Email, words+m.where()); err != nil {
		return fmt.Errorf("organizers: tell of %q: %w", what, err)
	}
	return nil
}

// changed reports a change to an account that committed.
func (d *Desk) changed(m Member, what string) {
	d.wake()
	d.Report(SecurityEvent{Kind: AccountChanged, Organizer: m.Organizer, Network: m.From.network(), Agent: m.From.Agent, Detail: what})
}

// TellOwners returns statements that tell the owners of a member's team by mail what the member did. words begin with a verb
// in the past, as those of Note.
func TellOwners(m Member, words string) seats.TxHook {
	return func(q *pgx.Batch) {
		q.Queue(mailOwnersSQL, m.Team, m.Name+" "+words+" in the team "+m.TeamName+"."+m.where())
	}
}

// tellMember tells a member of the team whom a change is about; an owner is told with the other owners.
func tellMember(ctx context.Context, tx pgx.Tx, m Member, c Colleague, words string) error {
	if c.Role == Owner || c.Organizer == m.Organizer {
		return nil
	}
	if _, err := tx.Exec(ctx, mailAccountSQL, c.Email, words); err != nil {
		return fmt.Errorf("organizers: tell a member: %w", err)
	}
	return nil
}

// teamChanged reports a change to a team that committed.
func (d *Desk) teamChanged(m Member, what string) {
	d.wake()
	d.Report(SecurityEvent{Kind: TeamChanged, Organizer: m.Organizer, Team: m.Team, Network: m.From.network(), Agent: m.From.Agent, Detail: what})
}
