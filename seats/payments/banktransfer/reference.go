package banktransfer

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// referenceBytes of an order's id are in its reference.
const referenceBytes = 6

// Reference returns what the attendee of an order writes on the transfer: a creditor reference by ISO 11649 in groups of
// four, such as RF45 1A2B 3C4D 5E6F. It does not open the page of the order.
func Reference(order seats.ID) string {
	return grouped(bareReference(order))
}

func bareReference(order seats.ID) string {
	body := strings.ToUpper(hex.EncodeToString(order[:referenceBytes]))
	return fmt.Sprintf("RF%02d%s", 98-mod97(body+"RF00"), body)
}

// grouped writes a text in groups of four.
func grouped(text string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mod97 is the remainder of ISO 7064 of letters and digits; -1 if there are other characters.
func mod97(text string) (rest int) {
	for _, r := range text {
		switch {
		case '0' <= r && r <= '9':
			rest = (rest*10 + int(r-'0')) % 97
		case 'A' <= r && r <= 'Z':
			rest = (rest*100 + int(r-'A') + 10) % 97
		default:
			return -1
		}
	}
	return rest
}

// checked reports whether the two digits behind the first two letters are right, as in an IBAN and a creditor reference.
func checked(text string) bool { return len(text) > 4 && mod97(text[4:]+text[:4]) == 1 }

var (
	written = regexp.MustCompile(`RF[0-9]{2}[0-9A-F]{12}`)
	spaces  = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "\u00a0", "", "-", "", ".", "", "/", "")
)

// findReference returns the first reference of ours in a text, however it is spaced; empty if there is none.
func findReference(text string) string {
	bare := spaces.Replace(strings.ToUpper(text))
	for from := 0; from < len(bare); {
		at := written.FindStringIndex(bare[from:])
		if at == nil {
			return ""
		}
		if one := bare[from+at[0] : from+at[1]]; checked(one) {
			return one
		}
		from += at[0] + 1
	}
	return ""
}

// orderRange returns the lowest and the highest id of orders with a reference.
func orderRange(reference string) (low, high seats.ID, is bool) {
	if len(reference) != 4+2*referenceBytes || !checked(reference) {
		return low, high, false
	}
	if _, err := hex.Decode(low[:referenceBytes], []byte(reference[4:])); err != nil {
		return low, high, false
	}
	high = low
	for i := referenceBytes; i < len(high); i++ {
		high[i] = 0xff
	}
	return low, high, true
}

// Details are a team's account, to which attendees transfer.
type Details struct {
	Holder string // name of the account's owner
	IBAN   string // without spaces
	BIC    string // may be empty
	Bank   string // its name; may be empty
}

// Known reports whether the team has an account.
func (d Details) Known() bool { return d.IBAN != "" }

// Grouped is the IBAN as people read it.
func (d Details) Grouped() string { return grouped(d.IBAN) }

// Fields of bank details.
const (
	FieldHolder = "holder"
	FieldIBAN   = "iban"
	FieldBIC    = "bic"
	FieldBank   = "bank"
)

var (
	ibanShape = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$`)
	bicShape  = regexp.MustCompile(`^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$`)
)

// Check returns bank details in their one spelling. Details without any text are none. Errors are organizers.Mistakes.
func (d Details) Check() (Details, error) {
	d.Holder, d.Bank = tidy(d.Holder), tidy(d.Bank)
	d.IBAN, d.BIC = spaces.Replace(strings.ToUpper(d.IBAN)), spaces.Replace(strings.ToUpper(d.BIC))
	if d == (Details{}) {
		return d, nil
	}
	var m organizers.Mistakes
	if d.Holder == "" || len([]rune(d.Holder)) > 70 {
		m = append(m, organizers.Mistake{Field: FieldHolder, Message: text.Mark("Enter the name of the account’s owner, at most 70 characters.")})
	}
	switch {
	case !ibanShape.MatchString(d.IBAN):
		m = append(m, organizers.Mistake{Field: FieldIBAN, Message: text.Mark("Enter an IBAN such as DE75 5121 0800 1245 1261 99.")})
	case !checked(d.IBAN):
		m = append(m, organizers.Mistake{Field: FieldIBAN, Message: text.Mark("The check digits of this IBAN are wrong. Compare it with your statement.")})
	}
	if d.BIC != "" && !bicShape.MatchString(d.BIC) {
		m = append(m, organizers.Mistake{Field: FieldBIC, Message: text.Mark("Enter a BIC of 8 or 11 characters, or leave it empty.")})
	}
	if len([]rune(d.Bank)) > 70 {
		m = append(m, organizers.Mistake{Field: FieldBank, Message: text.Mark("Enter at most 70 characters.")})
	}
	if m != nil {
		return d, m
	}
	return d, nil
}

// tidy writes a text in one line, without characters that cannot be stored.
func tidy(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == 0 || r == '\ufffd' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))), " ")
}

// Transfer is what an attendee enters at the bank.
type Transfer struct {
	Details
	Reference string // in groups
	Amount    int64  // minor units
	Currency  string
}

// Code returns the text of a QR code that banking apps in the euro area read, by EPC069-12, version 002; empty for amounts
// that are not in euro, which it cannot say.
func (t Transfer) Code() string {
	if t.Currency != "EUR" || !t.Known() || t.Amount <= 0 || t.Amount > 99_999_999_999 {
		return ""
	}
	return strings.Join([]string{
		"BCD", "002", "1", "SCT", t.BIC, t.Holder, t.IBAN, "EUR" + pricing.Amount(t.Amount, t.Currency), "", spaces.Replace(t.Reference),
	}, "\n")
}
