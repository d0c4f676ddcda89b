package mail

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"github.com/usherbox/usher/seats"
)

// Letter is a mail as it is handed over.
type Letter struct {
	From    string // name of the sender; empty: that of the operator
	ID      string // the left side of its Message-ID: the same in every try
	Name    string // of whom it is for
	Email   string
	Subject string
	Text    string
	HTML    string
	Files   []File

	Unsubscribe string // where the reader ends such mail with one POST (RFC 8058); empty: it is about an order
}

// File is something attached to a letter.
type File struct {
	Name    string
	Type    string // such as text/calendar
	Content []byte
	Inline  string // its Content-ID, if the HTML shows it; empty: an attachment
}

// ErrHeader refuses a letter: its names, address or subject would begin another header line.
var ErrHeader = errors.New("a header of a mail has characters that end a line")

// message puts a letter into the form of RFC 5322.
func (l Letter) message(from Sender) (*gomail.Msg, error) {
	for _, line := range []string{l.From, l.ID, l.Name, l.Email, l.Subject, l.Unsubscribe} {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			return nil, ErrHeader
		}
	}
	m := gomail.NewMsg()
	if !seats.IsEmail(l.Email) {
		return nil, &Refused{Reason: "this is not an address: " + l.Email}
	}
	m.FromMailAddress(&mail.Address{Name: cmp.Or(l.From, from.Name), Address: from.Email})
	m.ToMailAddress(&mail.Address{Name: l.Name, Address: l.Email}) // not …Format: a quotation mark in a name would end it there
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(l.ID + "@" + from.host())
	m.SetGenHeader("Auto-Submitted", "auto-generated") // no answer by a machine on holiday
	if l.Unsubscribe != "" {
		m.SetGenHeader("List-Unsubscribe", "<"+l.Unsubscribe+">")
		m.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	for _, f := range l.Files {
		add, options := m.AttachReader, []gomail.FileOption{gomail.WithFileContentType(gomail.ContentType(f.Type))}
		if f.Inline != "" {
			add, options = m.EmbedReader, append(options, gomail.WithFileContentID("<"+f.Inline+">"))
		}
		if err := add(f.Name, bytes.NewReader(f.Content), options...); err != nil {
			return nil, fmt.Errorf("attach %s: %w", f.Name, err)
		}
	}
	return m, nil
}

// Sender is the sender of a mail.
type Sender struct{ Name, Email string }

func (s Sender) host() string { return s.Email[strings.LastIndexByte(s.Email, '@')+1:] }

// Refused is a mail that its receiver's server will not take, now or later.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }
