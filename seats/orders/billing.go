package orders

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Billing is the company that a buyer wants the invoice for. It stands in orders.billing; package invoices reads it.
type Billing struct {
	Company  string `json:"company"`
	Street   string `json:"street"`
	Postcode string `json:"postcode,omitempty"`
	City     string `json:"city"`
	Country  string `json:"country"` // ISO 3166-1 alpha-2
	VATID    string `json:"vat_id,omitempty"`
	Reverse  bool   `json:"reverse_charge,omitempty"` // the company owes the tax. Set when the order is placed

	unregistered bool // the register of the EU does not have VATID
}

// Seller is the team that sells, as far as an invoice for a company depends on it.
type Seller struct {
	Country string // ISO 3166-1; empty: the team issues no invoices
	VATID   string

	Refused string // a VAT ID that the register of the EU does not have; empty: none
}

// Fields of the company on an invoice.
const (
	FieldCompany  = "company"
	FieldStreet   = "street"
	FieldPostcode = "postcode"
	FieldCity     = "city"
	FieldCountry  = "country"
	FieldVATID    = "vat_id"
)

// Each text of a company, and the most characters of it, as those of a seller.
func (b *Billing) texts() []struct {
	field string
	text  *string
	most  int
} {
	return []struct {
		field string
		text  *string
		most  int
	}{
		{FieldCompany, &b.Company, 200},
		{FieldStreet, &b.Street, 200},
		{FieldPostcode, &b.Postcode, 20},
		{FieldCity, &b.City, 100},
		{FieldCountry, &b.Country, 2},
		{FieldVATID, &b.VATID, 30},
	}
}

// WithBilling returns the form with its company in one spelling, and decides who owes the tax. A company of another country
// of the EU owes it for virtual attendance only: admission to a place is taxed where the place is, also for businesses (Article 53 of
// Directive 2006/112/EC). A team that issues no invoices asks for no company.
func (f Form) WithBilling(e seats.Event) Form {
	if f.Billing == nil || f.Seller.Country == "" {
		f.Billing = nil
		return f
	}
	b := *f.Billing
	for _, t := range b.texts() {
		*t.text = strings.Join(strings.Fields(*t.text), " ")
	}
	b.Country, b.Reverse = strings.ToUpper(b.Country), false
	if id, _, err := pricing.ReadVATID(b.VATID); err == nil && b.WrongVATID() == "" {
		b.VATID, b.unregistered = id, id == f.Seller.Refused
		b.Reverse = !b.unregistered && e.Online.On && f.Seller.VATID != "" && pricing.ReverseCharge(f.Seller.Country, b.Country)
	}
	f.Billing = &b
	return f
}

// reversed reports whether the buyer owes the tax.
func (f Form) reversed() bool { return f.Billing != nil && f.Billing.Reverse }

var countryForm = regexp.MustCompile(`^[A-Z]{2}$`)

// mistakes finds everything that is wrong with a company.
func (b *Billing) mistakes() (m Mistakes) {
	if b == nil {
		return nil
	}
	for _, t := range b.texts() {
		switch {
		case !utf8.ValidString(*t.text) || strings.ContainsFunc(*t.text, unicode.IsControl):
			m = append(m, Mistake{t.field, text.Mark("This has characters that cannot be printed.")})
		case utf8.RuneCountInString(*t.text) > t.most:
			m = append(m, Mistake{t.field, text.Mark("This text is too long.")})
		}
	}
	for _, need := range []struct{ field, text, message string }{
		{FieldCompany, b.Company, text.Mark("Enter the name of the company.")},
		{FieldStreet, b.Street, text.Mark("Enter the street and house number.")},
		{FieldCity, b.City, text.Mark("Enter the city.")},
	} {
		if need.text == "" {
			m = append(m, Mistake{need.field, need.message})
		}
	}
	if !countryForm.MatchString(b.Country) {
		m = append(m, Mistake{FieldCountry, text.Mark("Choose the country.")})
	}
	if wrong := b.WrongVATID(); wrong != "" && m.About(FieldVATID) == "" {
		m = append(m, Mistake{FieldVATID, wrong})
	}
	return m
}

// WrongVATID says what is wrong with a VAT ID, empty if nothing is or there is none.
func (b *Billing) WrongVATID() string {
	if b.VATID == "" {
		return ""
	}
	_, country, err := pricing.ReadVATID(b.VATID)
	switch {
	case b.unregistered:
		return text.Mark("VIES, the register of the EU, does not have this VAT ID. Correct it, or leave it empty.")
	case err != nil:
		return text.Mark("This VAT ID is not valid. Correct it, or leave it empty.")
	case country != b.Country && !(country == "XI" && b.Country == "GB"):
		return text.Mark("The VAT ID is from another country than the company. Correct one of them.")
	}
	return ""
}
