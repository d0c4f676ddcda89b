package seats

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Online is how people join an event that has no place. The zero value is an event with a place.
type Online struct {
	On    bool
	Link  string        // where people join; empty while the organizer does not know it
	Early time.Duration // before the start, when tickets open the link; 0: as soon as they are confirmed
}

const (
	mostJoinLink     = 2000 // bytes
	mostConfirmation = 5000 // characters
	mostEarly        = 30 * 24 * time.Hour
)

// CheckJoinLink returns what is wrong with a link to join, empty if nothing is.
func CheckJoinLink(link string) string {
	u, err := url.Parse(link)
	switch {
	case link == "":
		return ""
	case len(link) > mostJoinLink || strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Sprintf("The link to join has at most %d characters, and no spaces.", mostJoinLink)
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return "The link to join begins with https://, such as https://meet.example.org/small-web."
	}
	return ""
}

// check returns what is wrong with how people join, empty if nothing is.
func (o Online) check(confirmation string) string {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' }
	switch {
	case o.Early < 0 || o.Early > mostEarly || o.Early > 0 && o.Early < time.Minute:
		return "The link to join opens between a minute and 30 days before the start."
	case !utf8.ValidString(confirmation) || utf8.RuneCountInString(confirmation) > mostConfirmation || strings.ContainsFunc(confirmation, control):
		return fmt.Sprintf("The text in the confirmation has at most %d characters.", mostConfirmation)
	}
	return CheckJoinLink(o.Link)
}

// JoinsAt returns when tickets open the link to join, and false if they do so from the first moment on.
func (e Event) JoinsAt() (time.Time, bool) {
	return e.StartsAt.Add(-e.Online.Early), e.Online.Early > 0
}

const onlineColumns = `e.online, e.join_link, coalesce(extract(epoch FROM e.join_early), 0)::float8, e.confirmation`

const saveOnlineSQL = `
UPDATE event
   SET online = $2, join_link = $3, join_early = make_interval(secs => nullif($4::float8, 0)), confirmation = $5,
       join_link_at = CASE WHEN $3 = '' THEN NULL WHEN join_link = '' THEN clock_timestamp() ELSE join_link_at END
 WHERE id = $1`

// saveOnline writes how people join an event, and what its confirmation says.
func (e NewEvent) saveOnline(ctx context.Context, tx pgx.Tx, event int64) error {
	_, err := tx.Exec(ctx, saveOnlineSQL, event, e.Online.On, e.Online.Link, e.Online.Early.Seconds(), e.Confirmation)
	return err
}
