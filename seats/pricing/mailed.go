package pricing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Codes can be mailed: each person of a list gets a code of their own, as for a presale to members.

// MailCode is the kind of a mail with a code.
const MailCode = "code"

// AboutCode is what a mail with a code is about.
type AboutCode struct {
	Event  string `json:"event"`            // its word in addresses
	Series string `json:"series,omitempty"` // the same, if the code is for performances of a series
	Code   string `json:"code"`
}

// ReadAbout reads what a mail with a code is about.
func ReadAbout(written string) (a AboutCode, err error) {
	if err := json.Unmarshal([]byte(written), &a); err != nil {
		return a, fmt.Errorf("pricing: read what a mail is about: %w", err)
	}
	return a, nil
}

// Mailing says to whom codes are mailed. The zero value: to no person.
type Mailing struct {
	Emails  []string   // of the person for each code
	Members []seats.ID // the membership of each; empty: they are of no members
	Series  string     // the slug of the series whose page the mail leads to; empty: it leads to the event
}

const mailCodesSQL = `
INSERT INTO mail (kind, email, code_id, about, language)
SELECT 'code', n.email, c.id, json_strip_nulls(json_build_object('event', e.slug, 'series', nullif($4, ''), 'code', c.code))::text, e.language
  FROM event e, code c, unnest($2::text[], $3::text[]) AS n (code, email)
 WHERE e.id = $1 AND c.event_id = e.id AND c.code = n.code`

// MailCodes queues a mail to each person with the code that stands at the same place of the other list.
func MailCodes(ctx context.Context, tx pgx.Tx, event int64, codes []string, to Mailing) error {
	if len(to.Emails) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, mailCodesSQL, event, codes, to.Emails, to.Series); err != nil {
		return fmt.Errorf("pricing: mail codes: %w", err)
	}
	return nil
}

// CodeDates are the performances of a series in which a code opens something, or will.
type CodeDates struct {
	Count       int
	First, Last time.Time // when they begin; zero if there are none
	Early       bool      // the sale of one opens later
}

const codeDatesSQL = `
SELECT count(*), coalesce(min(e.starts_at), 'epoch'), coalesce(max(e.starts_at), 'epoch'), coalesce(bool_or(e.status = 'scheduled' OR e.opens_at > clock_timestamp()), false)
  FROM event p JOIN event e ON e.series_id = p.series_id JOIN code c ON c.event_id = e.id
 WHERE p.id = $1 AND c.code = $2 AND c.retired_at IS NULL AND (c.ends_at IS NULL OR c.ends_at > clock_timestamp())
   AND ` + codeOfMember + ` AND e.status NOT IN ('cancelled', 'closed') AND e.starts_at > clock_timestamp()`

// DatesOf returns in which performances to come of the series of an event a code opens something.
func DatesOf(ctx context.Context, db seats.DB, event int64, code string) (d CodeDates, err error) {
	if err := db.QueryRow(ctx, codeDatesSQL, event, code).Scan(&d.Count, &d.First, &d.Last, &d.Early); err != nil {
		return d, fmt.Errorf("pricing: find the dates of a code: %w", err)
	}
	return d, nil
}
