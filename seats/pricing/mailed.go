package pricing

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Codes can be mailed: each person of a list gets a code of their own, as for a presale to members.

// MailCode is the kind of a mail with a code.
const MailCode = "code"

// AboutCode is what a mail with a code is about.
type AboutCode struct {
	Event string `json:"event"` // its word in addresses
	Code  string `json:"code"`
}

// ReadAbout reads what a mail with a code is about.
func ReadAbout(written string) (a AboutCode, err error) {
	if err := json.Unmarshal([]byte(written), &a); err != nil {
		return a, fmt.Errorf("pricing: read what a mail is about: %w", err)
	}
	return a, nil
}

const mailCodesSQL = `
INSERT INTO mail (kind, email, code_id, about, language)
SELECT 'code', n.email, c.id, json_build_object('event', e.slug, 'code', c.code)::text, e.language
  FROM event e, code c, unnest($2::text[], $3::text[]) AS n (code, email)
 WHERE e.id = $1 AND c.event_id = e.id AND c.code = n.code`

// MailCodes queues a mail to each person with the code that stands at the same place of the other list.
func MailCodes(ctx context.Context, tx pgx.Tx, event int64, codes, emails []string) error {
	if _, err := tx.Exec(ctx, mailCodesSQL, event, codes, emails); err != nil {
		return fmt.Errorf("pricing: mail codes: %w", err)
	}
	return nil
}
