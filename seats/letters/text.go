package letters

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/language"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Text is what mails of a kind say in words of a team, in one language. Empty parts are the standard ones. Facts, such as
// seats, sums and links, are the program's.
type Text struct {
	Kind, Language            string
	Subject, Opening, Closing string
}

// Kinds of mails that may have words of a team.
const (
	TextConfirmation = "confirmation"
	TextUpcoming     = MailUpcoming
	TextThanks       = MailThanks
	TextOffer        = "offer" // of seats, to people on a waiting list
)

// Kinds lists the mails that may have words of a team.
func Kinds() []string { return []string{TextConfirmation, TextUpcoming, TextThanks, TextOffer} }

// Variables lists what words of a kind of mail may name.
func Variables(kind string) []string {
	if kind == TextOffer {
		return []string{"event", "date", "venue", "team"}
	}
	return []string{"name", "event", "date", "venue", "team", "order"}
}

// Fields of the form that may be wrong.
const (
	FieldKind     = "kind"
	FieldLanguage = "language"
	FieldSubject  = "subject"
	FieldOpening  = "opening"
	FieldClosing  = "closing"
)

var variable = regexp.MustCompile(`\{([^{}]*)\}`)

// Tidy makes a text as the database keeps it, and lists what is wrong with it.
func (t *Text) Tidy() (wrong organizers.Mistakes) {
	say := func(is bool, field, message string, args ...any) {
		if is {
			wrong = append(wrong, organizers.Mistake{Field: field, Message: message, Args: args})
		}
	}
	say(!slices.Contains(Kinds(), t.Kind), FieldKind, text.Mark("Choose a kind of email."))
	tag, err := language.Parse(t.Language)
	say(err != nil || len(t.Language) > 20, FieldLanguage, text.Mark("A language is a tag such as en, de or pt-BR."))
	if err == nil {
		t.Language = tag.String() // as readers have it: de, not DE
	}
	say(strings.ContainsAny(t.Subject, "\r\n\t"), FieldSubject, text.Mark("Write it in one line."))
	for _, part := range []struct {
		field string
		words *string
		most  int
	}{{FieldSubject, &t.Subject, 200}, {FieldOpening, &t.Opening, 3000}, {FieldClosing, &t.Closing, 3000}} {
		wrong = append(wrong, tidyWords(part.field, part.words, part.most)...)
		for _, v := range variable.FindAllStringSubmatch(*part.words, -1) {
			if !slices.Contains(Variables(t.Kind), v[1]) {
				say(true, part.field, text.Mark("This email has no %s. Available: %s"), v[0], "{"+strings.Join(Variables(t.Kind), "}, {")+"}")
				break
			}
		}
	}
	return wrong
}

// Fill puts values in the place of variables.
func (t Text) Fill(values map[string]string) Text {
	fill := func(words string) string {
		return variable.ReplaceAllStringFunc(words, func(v string) string { return values[v[1:len(v)-1]] })
	}
	t.Subject, t.Opening, t.Closing = strings.Join(strings.Fields(fill(t.Subject)), " "), fill(t.Opening), fill(t.Closing)
	return t
}

const textSQL = `
SELECT m.kind, m.language, m.subject, m.opening, m.closing, t.name FROM mail_text m JOIN team t ON t.id = m.team_id
 WHERE m.team_id = $1 AND m.kind = $2 AND m.language IN ($3, split_part($3, '-', 1)) ORDER BY m.language = $3 DESC LIMIT 1`

// Text returns the words of a team for readers of a language, and the name of the team; none if it has the standard ones there.
func (l *Letters) Text(ctx context.Context, team int64, kind, tag string) (t Text, name string, err error) {
	if l == nil {
		return t, "", nil
	}
	err = l.db.QueryRow(ctx, textSQL, team, kind, tag).Scan(&t.Kind, &t.Language, &t.Subject, &t.Opening, &t.Closing, &name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return t, "", fmt.Errorf("letters: read words of a mail: %w", err)
	}
	return t, name, nil
}

const textsSQL = `SELECT kind, language, subject, opening, closing FROM mail_text WHERE team_id = $1 ORDER BY kind, language`

// Texts lists the words of the member's team.
func (l *Letters) Texts(ctx context.Context, m organizers.Member) (list []Text, err error) {
	err = l.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, textsSQL, m.Team) // CollectRows returns its error
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Text])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("letters: list words of mails: %w", err)
	}
	return list, nil
}

const (
	saveTextSQL = `
INSERT INTO mail_text (team_id, kind, language, subject, opening, closing) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (team_id, kind, language) DO UPDATE SET (subject, opening, closing) = ($4, $5, $6)`

	dropTextSQL = `DELETE FROM mail_text WHERE team_id = $1 AND kind = $2 AND language = $3`
)

// SaveText saves words of the member's team. Without any, the mail says the standard again.
//
// Errors: organizers.Mistakes; those of idempotency.Key.Take; the database's.
func (l *Letters) SaveText(ctx context.Context, m organizers.Member, t Text, key string) error {
	if wrong := t.Tidy(); len(wrong) > 0 {
		return wrong
	}
	return l.desk.Change(ctx, m, key, []any{"mail text", t}, func(tx pgx.Tx) (err error) {
		if t.Subject+t.Opening+t.Closing == "" {
			_, err = tx.Exec(ctx, dropTextSQL, m.Team, t.Kind, t.Language)
		} else {
			_, err = tx.Exec(ctx, saveTextSQL, m.Team, t.Kind, t.Language, t.Subject, t.Opening, t.Closing)
		}
		if err != nil {
			return fmt.Errorf("letters: save words of a mail: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed email texts"), "mail-texts", t)
	})
}
