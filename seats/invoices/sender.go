package invoices

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Sender is the seller on the invoices of a team.
type Sender struct {
	Party
	Prefix string `json:"prefix"` // of the numbers
	Paused bool   `json:"paused"` // new orders get no invoice
}

// Party is a seller or buyer.
type Party struct {
	Name      string `json:"name"`
	Company   string `json:"company,omitempty"` // of a buyer; their name is the contact then
	Street    string `json:"street,omitempty"`
	Postcode  string `json:"postcode,omitempty"`
	City      string `json:"city,omitempty"`
	Country   string `json:"country,omitempty"` // ISO 3166-1 alpha-2
	VATID     string `json:"vat_id,omitempty"`
	TaxNumber string `json:"tax_number,omitempty"`
	Register  string `json:"register,omitempty"`
	Email     string `json:"email,omitempty"`
	Exemption string `json:"exemption,omitempty"` // why a seller charges no tax at the rate 0
}

// Fields of the form of a sender, and the most characters of each.
var fields = []struct {
	name string
	most int
	of   func(s *Sender) *string
}{
	{"name", 200, func(s *Sender) *string { return &s.Name }},
	{"street", 200, func(s *Sender) *string { return &s.Street }},
	{"postcode", 20, func(s *Sender) *string { return &s.Postcode }},
	{"city", 100, func(s *Sender) *string { return &s.City }},
	{"country", 2, func(s *Sender) *string { return &s.Country }},
	{"vat_id", 20, func(s *Sender) *string { return &s.VATID }},
	{"tax_number", 40, func(s *Sender) *string { return &s.TaxNumber }},
	{"register", 200, func(s *Sender) *string { return &s.Register }},
	{"email", 254, func(s *Sender) *string { return &s.Email }},
	{"exemption", 300, func(s *Sender) *string { return &s.Exemption }},
	{"prefix", 10, func(s *Sender) *string { return &s.Prefix }},
}

var (
	countryForm = regexp.MustCompile(`^[A-Z]{2}$`)
	prefixForm  = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)
)

// Set sets a field by its name in forms.
func (s *Sender) Set(name, text string) {
	for _, f := range fields {
		if f.name == name {
			*f.of(s) = text
		}
	}
}

// tidy removes spaces around texts, and finds every mistake.
func (s Sender) tidy() (Sender, error) {
	var m organizers.Mistakes
	note := func(field, message string) { m = append(m, organizers.Mistake{Field: field, Message: message}) }
	for _, f := range fields {
		typed := f.of(&s)
		*typed = strings.Join(strings.Fields(*typed), " ")
		switch {
		case !utf8.ValidString(*typed) || strings.ContainsFunc(*typed, unicode.IsControl):
			note(f.name, text.Mark("This has characters that cannot be printed."))
		case utf8.RuneCountInString(*typed) > f.most:
			m = append(m, organizers.Mistake{Field: f.name, Message: text.Mark("This is longer than %d characters."), Args: []any{f.most}})
		}
	}
	s.Company = ""
	s.Country, s.VATID = strings.ToUpper(s.Country), strings.ToUpper(strings.ReplaceAll(s.VATID, " ", ""))
	for _, need := range []struct{ field, typed, message string }{
		{"name", s.Name, text.Mark("Enter the legal name of the seller.")},
		{"street", s.Street, text.Mark("Enter street and house number.")},
		{"city", s.City, text.Mark("Enter the city.")},
	} {
		if need.typed == "" {
			note(need.field, need.message)
		}
	}
	if !countryForm.MatchString(s.Country) {
		note("country", text.Mark("Enter the two letters of the country, such as AT."))
	}
	if s.VATID == "" && s.TaxNumber == "" {
		note("vat_id", text.Mark("Enter a VAT ID or a tax number: an invoice needs one of them."))
	}
	if s.VATID != "" {
		id, _, err := pricing.ReadVATID(s.VATID)
		if err != nil {
			note("vat_id", text.Mark("Enter a valid VAT ID, such as ATU13585627."))
		}
		s.VATID = id
	}
	if s.Email != "" && !strings.Contains(s.Email, "@") {
		note("email", text.Mark("Enter an email address in the format name@example.com."))
	}
	if !prefixForm.MatchString(s.Prefix) {
		note("prefix", text.Mark("The prefix has letters, digits and . _ - only."))
	}
	if len(m) > 0 {
		return s, m
	}
	return s, nil
}

// ErrNoSender says that a team has not entered the seller of its invoices.
var ErrNoSender = errors.New("the team has not entered the seller of its invoices")

const senderSQL = `
SELECT name, street, postcode, city, country, vat_id, tax_number, register, email, exemption, prefix, paused FROM invoice_sender WHERE team_id = $1`

func scanSender(row pgx.Row) (s Sender, err error) {
	err = row.Scan(&s.Name, &s.Street, &s.Postcode, &s.City, &s.Country, &s.VATID, &s.TaxNumber, &s.Register, &s.Email, &s.Exemption, &s.Prefix, &s.Paused)
	return s, err
}

// Sender returns the seller on the invoices of a member's team. ErrNoSender if there is none.
func (v *Invoices) Sender(ctx context.Context, m organizers.Member) (s Sender, err error) {
	err = v.desk.As(ctx, m, func(tx pgx.Tx) error {
		s, err = scanSender(tx.QueryRow(ctx, senderSQL, m.Team))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNoSender
	}
	if err != nil {
		return s, fmt.Errorf("invoices: read the sender: %w", err)
	}
	return s, nil
}

const issuerSQL = `SELECT country, vat_id FROM invoice_sender WHERE team_id = $1 AND NOT paused`

// Issuer returns country and VAT ID of a team that issues invoices for new orders; empty if it issues none.
func (v *Invoices) Issuer(ctx context.Context, team int64) (country, vatID string, err error) {
	err = v.db.QueryRow(ctx, issuerSQL, team).Scan(&country, &vatID)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("invoices: find the seller: %w", err)
	}
	return country, vatID, nil
}

const setSenderSQL = `
INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id, tax_number, register, email, exemption, prefix, paused)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (team_id) DO UPDATE
   SET name = excluded.name, street = excluded.street, postcode = excluded.postcode, city = excluded.city, country = excluded.country,
       vat_id = excluded.vat_id, tax_number = excluded.tax_number, register = excluded.register, email = excluded.email,
       exemption = excluded.exemption, prefix = excluded.prefix, paused = excluded.paused
 WHERE (invoice_sender.name, invoice_sender.street, invoice_sender.postcode, invoice_sender.city, invoice_sender.country, invoice_sender.vat_id, invoice_sender.tax_number,
        invoice_sender.register, invoice_sender.email, invoice_sender.exemption, invoice_sender.prefix, invoice_sender.paused) IS DISTINCT FROM
       (excluded.name, excluded.street, excluded.postcode, excluded.city, excluded.country, excluded.vat_id, excluded.tax_number,
        excluded.register, excluded.email, excluded.exemption, excluded.prefix, excluded.paused)`

// SetSender changes the seller of later invoices. Orders get invoices from the first time on.
//
// Errors: organizers.Mistakes; those of organizers.Desk.Change; the database's.
func (v *Invoices) SetSender(ctx context.Context, m organizers.Member, s Sender, key string) error {
	s, err := s.tidy()
	if err != nil {
		return err
	}
	return v.desk.Change(ctx, m, key, []any{"invoice sender", s}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, setSenderSQL, m.Team, s.Name, s.Street, s.Postcode, s.City, s.Country, s.VATID, s.TaxNumber, s.Register, s.Email, s.Exemption, s.Prefix, s.Paused)
		if err != nil || tag.RowsAffected() == 0 { // 0: it was so before
			return err
		}
		if err := organizers.TellOwners(m, organizers.NoticeSeller).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the seller on invoices"), "team/invoices", s)
	})
}
