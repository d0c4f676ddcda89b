package organizers

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// MailSecurity is the kind of mail that tells of a change to an account or a team.
const MailSecurity = "security"

const mailAccountSQL = `INSERT INTO mail (email, kind, about) VALUES ($1, 'security', $2)`

const mailOwnersSQL = `
INSERT INTO mail (email, kind, about)
SELECT o.email, 'security', $2 FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE m.team_id = $1 AND m.role = 'owner'`

// Notice is what owners are told by mail that a member of their team did. The mail is stored in English; see InNotice.
type Notice string

// The notices. The first verb is the member, the second one the team.
var (
	NoticeKeyMade       = Notice(text.Mark("%[1]s made the key “%[3]s” for programs of the team %[2]s."))
	NoticeInvited       = Notice(text.Mark("%[1]s invited %[3]s to the team %[2]s as %[4]s."))
	NoticeJoined        = Notice(text.Mark("%[1]s joined the team %[2]s as %[3]s."))
	NoticeRole          = Notice(text.Mark("%[1]s gave %[3]s (%[4]s) the role %[5]s in the team %[2]s."))
	NoticeRemoved       = Notice(text.Mark("%[1]s removed %[3]s (%[4]s) from the team %[2]s."))
	NoticeDemands       = Notice(text.Mark("%[1]s now demands a second factor from every member of the team %[2]s."))
	NoticeDemandsNot    = Notice(text.Mark("%[1]s no longer demands a second factor from every member of the team %[2]s."))
	NoticeBank          = Notice(text.Mark("%[1]s changed the bank account of the team %[2]s that orders are paid to (it ends with %[3]s)."))
	NoticeBankRemoved   = Notice(text.Mark("%[1]s removed the bank account of the team %[2]s that orders are paid to."))
	NoticeHookMade      = Notice(text.Mark("%[1]s made a webhook that sends orders to %[3]s, in the team %[2]s."))
	NoticeHookChanged   = Notice(text.Mark("%[1]s changed a webhook of the team %[2]s: it sends orders to %[3]s."))
	NoticeHookSecret    = Notice(text.Mark("%[1]s changed the secret of a webhook of the team %[2]s."))
	NoticeCardPaidBack  = Notice(text.Mark("%[1]s paid a gift card back in the team %[2]s."))
	NoticeOrderPaidBack = Notice(text.Mark("%[1]s noted that the money of order %[3]s of the team %[2]s was paid out by hand."))

	NoticeKeyRevoked      = Notice(text.Mark("%[1]s revoked the key “%[3]s” for programs of the team %[2]s."))
	NoticeRenamed         = Notice(text.Mark("%[1]s renamed the team %[2]s. Its name is now “%[3]s”."))
	NoticeWithdrawn       = Notice(text.Mark("%[1]s withdrew the invitation for %[3]s to the team %[2]s."))
	NoticeHookOn          = Notice(text.Mark("%[1]s switched on a webhook of the team %[2]s."))
	NoticeHookOff         = Notice(text.Mark("%[1]s switched off a webhook of the team %[2]s."))
	NoticeHookRemoved     = Notice(text.Mark("%[1]s removed a webhook of the team %[2]s."))
	NoticeSites           = Notice(text.Mark("%[1]s changed the list of websites that may show events of the team %[2]s."))
	NoticeSiteKeyMade     = Notice(text.Mark("%[1]s created a site key of the team %[2]s."))
	NoticeSiteKeyEnded    = Notice(text.Mark("%[1]s ended a site key of the team %[2]s."))
	NoticeDomain          = Notice(text.Mark("%[1]s entered the domain %[3]s for the team %[2]s."))
	NoticeDomainProven    = Notice(text.Mark("%[1]s proved that the domain %[3]s belongs to the team %[2]s."))
	NoticeDomainRemoved   = Notice(text.Mark("%[1]s removed the domain %[3]s of the team %[2]s."))
	NoticeSeller          = Notice(text.Mark("%[1]s changed the seller on invoices of the team %[2]s."))
	NoticeDepositPaidBack = Notice(text.Mark("%[1]s noted that the deposit of a group for %[3]s, an event of the team %[2]s, was paid back."))
)

// notices are the sentences of security mails.
var notices = text.NewStored(
	string(NoticeKeyMade), string(NoticeInvited), string(NoticeRole), string(NoticeRemoved), string(NoticeDemandsNot), string(NoticeDemands), string(NoticeBank), string(NoticeBankRemoved),
	string(NoticeKeyRevoked), string(NoticeRenamed), string(NoticeWithdrawn), string(NoticeHookOn), string(NoticeHookOff), string(NoticeHookRemoved),
	string(NoticeSites), string(NoticeSiteKeyMade), string(NoticeSiteKeyEnded), string(NoticeDomain), string(NoticeDomainProven), string(NoticeDomainRemoved), string(NoticeSeller),
	string(NoticeHookMade), string(NoticeHookChanged), string(NoticeHookSecret), string(NoticeCardPaidBack), string(NoticeOrderPaidBack), string(NoticeDepositPaidBack), string(NoticeJoined),
	text.Mark("This was done in %s, from the network %s."), text.Mark("This was done from the network %s."),
	text.Mark("Your role in the team %s is now %s."), text.Mark("You are no longer in the team %s."),
	text.Mark("Your account can now be opened with %s."), text.Mark("Your account can no longer be opened with %s."),
	text.Mark("The passkey “%s” was added to your account."), text.Mark("The key “%s” for programs of the team %s expires on %s."),
).Naming(string(Owner), string(Manager), string(Viewer), string(Door), "a program")

// Sentences of security mails in which nothing differs. Statements of this package write the last two.
var _ = []string{
	text.Mark("The operator of the box office removed every second factor of your account."), text.Mark("Make a new key and give it to the program before then."),
}

// InNotice says what a security mail is about in the language of its reader. Each line of it is a sentence.
func InNotice(ctx context.Context, about string) string {
	lines := strings.Split(about, "\n")
	for i, l := range lines {
		lines[i] = notices.In(ctx, l)
	}
	return strings.Join(lines, " ")
}

// where says from where a member did something, for mails.
func (m Member) where() string {
	switch {
	case m.From.Agent != "" && m.From.Network != "":
		return "\nThis was done in " + m.From.Agent + ", from the network " + m.From.Network + "."
	case m.From.Network != "":
		return "\nThis was done from the network " + m.From.Network + "."
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

// TellOwners returns statements that tell the owners of a member's team by mail what the member did. more fills the verbs of
// the notice behind the member and the team.
func TellOwners(m Member, n Notice, more ...any) seats.TxHook {
	about := text.T(context.Background(), string(n), append([]any{m.Name, m.TeamName}, more...)...) + m.where()
	return func(q *pgx.Batch) { q.Queue(mailOwnersSQL, m.Team, about) }
}

// tellMember tells a member of the team whom a change is about. An owner is told with the other owners; role is the one in which they are told.
func tellMember(ctx context.Context, tx pgx.Tx, c Colleague, role Role, words string) error {
	if role == Owner {
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
