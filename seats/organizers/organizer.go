package organizers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Fields of a form that a Mistake is about.
const (
	FieldName     = "name"
	FieldEmail    = "email"
	FieldPassword = "password"
	FieldRole     = "role"
	FieldScope    = "scope"
)

// Mistake says what is wrong with one field: a message of the catalogues, and what fills its verbs.
type Mistake struct {
	Field, Message string
	Args           []any
}

// In says it in the language of its reader.
func (m Mistake) In(ctx context.Context) string { return text.T(ctx, m.Message, m.Args...) }

// Mistakes is a form that cannot be taken as it is. Nothing was changed.
type Mistakes []Mistake

// In says them in the language of their reader.
func (m Mistakes) In(ctx context.Context) string {
	words := make([]string, len(m))
	for i, one := range m {
		words[i] = one.In(ctx)
	}
	return strings.Join(words, " ")
}

func (m Mistakes) Error() string { return m.In(context.Background()) }

// About returns what is wrong with a field, or nothing.
func (m Mistakes) About(ctx context.Context, field string) string {
	for _, one := range m {
		if one.Field == field {
			return one.In(ctx)
		}
	}
	return ""
}

// orNil is the mistakes as an error; nil if there are none.
func (m Mistakes) orNil() error {
	if len(m) == 0 {
		return nil
	}
	return m
}

const (
	mostName = 200 // characters
	mostTeam = 100 // characters
)

// tidyName takes needless spaces out of a name and says what is wrong with it; nil for nothing.
func tidyName(typed string, most int) (name string, wrong Mistakes) {
	name = strings.Join(strings.Fields(typed), " ")
	switch {
	case name == "":
		return name, Mistakes{{Field: FieldName, Message: text.Mark("Enter a name.")}}
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return name, Mistakes{{Field: FieldName, Message: text.Mark("The name has characters that cannot be printed.")}}
	case utf8.RuneCountInString(name) > most:
		return name, Mistakes{{Field: FieldName, Message: text.Mark("The name is longer than %d characters."), Args: []any{most}}}
	}
	return name, nil
}

// Newcomer is a future organizer.
type Newcomer struct {
	Name, Email, Password string
	team                  string // that they join; its name is no password
}

// check tidies the fields of a newcomer and finds every mistake in them.
func (n *Newcomer) check() error {
	name, m := tidyName(n.Name, mostName)
	email, ok := seats.NormalEmail(n.Email)
	if !ok {
		m = append(m, Mistake{Field: FieldEmail, Message: text.Mark("Enter an email address in the format name@example.com.")})
	}
	if wrong := wrongPassword(n.Password, name, email, n.team); wrong != "" {
		m = append(m, Mistake{Field: FieldPassword, Message: wrong})
	}
	n.Name, n.Email = name, email
	return m.orNil()
}

const createOrganizerSQL = `INSERT INTO organizer (email, name, password, language) VALUES ($1, $2, $3, $4) RETURNING id, epoch`

// reads is the language that the reader of a page prefers; empty if they were not asked.
func reads(ctx context.Context) string {
	if text.Known(ctx) {
		return text.Tag(ctx)
	}
	return ""
}

var errKnown = errors.New("an organizer has this address already")

// create adds an organizer; errKnown if the address is one's already. hash is of their password.
func create(ctx context.Context, db seats.DB, n Newcomer, hash string) (s Session, err error) {
	err = db.QueryRow(ctx, createOrganizerSQL, n.Email, n.Name, hash, reads(ctx)).Scan(&s.Organizer, &s.Epoch)
	if seats.IsConstraint(err, "one address is one organizer") {
		return s, errKnown
	}
	if err != nil {
		return s, fmt.Errorf("organizers: add an organizer: %w", err)
	}
	return s, nil
}

// letters is the alphabet of tokens: none looks like another.
var letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newToken makes what a link has at its end, and what of it a row may keep.
func newToken() (token string, hash []byte) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	token = letters.EncodeToString(b[:])
	return token, tokenHash(token)
}

func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
