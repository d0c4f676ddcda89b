package banktransfer

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// MaxBytes is the longest statement file, and mostEntries the number of credits that one may have.
const (
	MaxBytes    = 4 << 20
	mostEntries = 10_000
)

// FileError says why a file was not imported.
type FileError struct{ text.Message }

func (e *FileError) Error() string { return e.String() }

func wrongFile(why text.Message) error { return &FileError{why} }

// Entry is money that came, as a statement says it.
type Entry struct {
	Key       [sha256.Size]byte // equal for an entry of two files
	Booked    time.Time         // a day
	Amount    int64             // minor units
	Currency  string
	Reference string // of ours, without spaces; empty if there is none
	Payer     string
	Text      string // as the payer wrote it
}

// Statement is what a file says.
type Statement struct {
	Format  string // CAMT.053 or CSV
	Account string // IBAN; empty if the file does not say
	Entries []Entry
	Skipped int // entries that are no money that came: debits, those not booked yet, and those that the file has twice
}

// Read reads a statement file: CAMT.053, or CSV with a line of column names. currency is that of amounts without one.
// Errors are of type *FileError.
func Read(content []byte, currency string) (s Statement, err error) {
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return s, wrongFile(text.Say("The file is empty."))
	case len(content) > MaxBytes:
		return s, wrongFile(text.Say("The file is longer than %d MB. Export fewer days at once.", MaxBytes>>20))
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		return s, wrongFile(text.Say("This is a ZIP archive. Unpack it, and import the files in it one by one."))
	case bytes.HasPrefix(content, []byte("%PDF")):
		return s, wrongFile(text.Say("This is a PDF. Export the statement as CAMT.053 or CSV."))
	case bytes.IndexByte(content, 0) >= 0:
		return s, wrongFile(text.Say("This is no text. Export the statement as CAMT.053 or CSV."))
	}
	letters := bytes.TrimPrefix(content, []byte("\ufeff"))
	if trimmed := bytes.TrimSpace(letters); bytes.HasPrefix(trimmed, []byte("<")) {
		s, err = readCAMT(trimmed)
	} else {
		if !utf8.Valid(letters) {
			letters, _ = charmap.Windows1252.NewDecoder().Bytes(letters) // every byte is a character there
		}
		s, err = readCSV(string(letters), currency)
	}
	if err == nil && len(s.Entries) == 0 && s.Skipped == 0 {
		return s, wrongFile(text.Say("There is no entry in this file."))
	}
	return s, err
}

// named is the bank's own name of an entry of a statement, empty for none, and the number of the booking that the entry is a
// part of.
type named struct {
	name    string
	booking int
}

// keys names the entries of a statement. An entry without a name of the bank is named by its content and its position among
// equal ones, and so are parts of one booking. Another booking with the name and content of an earlier one is the same money: it
// is left out.
func (s *Statement) keys(names []named) {
	seen, first := map[string]int{}, map[string]int{}
	parts, all := map[string]int{}, s.Entries
	s.Entries = nil
	for i, e := range all {
		n := names[i]
		content := fmt.Sprintf("%s %d %s %q %q", e.Booked.Format(time.DateOnly), e.Amount, e.Currency, e.Payer, e.Text)
		if n.name == "" {
			n.name = content
		} else {
			part := fmt.Sprintf("%q %q", n.name, content)
			parts[fmt.Sprint(n.booking, part)]++
			part = fmt.Sprint(parts[fmt.Sprint(n.booking, part)], part)
			if booking, was := first[part]; was && booking != n.booking {
				s.Skipped++
				continue
			}
			first[part] = n.booking
		}
		seen[n.name]++
		e.Key = sha256.Sum256(fmt.Appendf(nil, "usher/statement/v1 %q %q %d", s.Account, n.name, seen[n.name]))
		s.Entries = append(s.Entries, e)
	}
}

// add adds money that came. text is looked at for a reference if none is given.
func (s *Statement) add(e Entry) error {
	if len(s.Entries) == mostEntries {
		return wrongFile(text.Say("The file has more than %d payments. Export fewer days at once.", mostEntries))
	}
	if e.Reference = findReference(e.Reference); e.Reference == "" {
		e.Reference = findReference(e.Text)
	}
	e.Payer, e.Text = short(e.Payer), short(e.Text)
	s.Entries = append(s.Entries, e)
	return nil
}

func short(text string) string {
	const most = 500
	if text = tidy(text); utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most])
	}
	return text
}

// readAmount reads an amount as banks write it, such as -1.234,50 or 1,234.50.
func readAmount(text, currency string) (minor int64, err error) {
	bare := strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "", "\u2212", "-", "+", "").Replace(text)
	bare, negative := strings.CutPrefix(bare, "-")
	if after, is := strings.CutSuffix(bare, "-"); is {
		bare, negative = after, true
	}
	decimal := strings.LastIndexAny(bare, ".,")
	if decimal >= 0 && (strings.Count(bare, bare[decimal:decimal+1]) > 1 || len(bare)-decimal-1 == 3 && pricing.Decimals(currency) != 3) {
		decimal = -1 // it groups thousands
	}
	whole, rest := bare, ""
	if decimal >= 0 {
		whole, rest = bare[:decimal], strings.TrimRight(bare[decimal+1:], "0")
		for len(rest) < pricing.Decimals(currency) {
			rest += "0"
		}
	}
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	if rest != "" {
		whole += "." + rest
	}
	if minor, err = pricing.ReadAmount(whole, currency); negative {
		minor = -minor
	}
	return minor, err
}
