package banktransfer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// camtDocument is what is read of an ISO 20022 camt.053 message, of any version.
type camtDocument struct {
	Statements []struct {
		IBAN    string      `xml:"Acct>Id>IBAN"`
		Entries []camtEntry `xml:"Ntry"`
	} `xml:"BkToCstmrStmt>Stmt"`
}

type camtEntry struct {
	Amount   camtAmount `xml:"Amt"`
	Way      string     `xml:"CdtDbtInd"`
	Reversal bool       `xml:"RvslInd"`
	Status   struct {
		Text string `xml:",chardata"`
		Code string `xml:"Cd"` // since version 8
	} `xml:"Sts"`
	Day     string       `xml:"BookgDt>Dt"`
	Moment  string       `xml:"BookgDt>DtTm"`
	Name    string       `xml:"AcctSvcrRef"`
	Parts   []camtDetail `xml:"NtryDtls>TxDtls"`
	Further string       `xml:"AddtlNtryInf"`
}

// camtDetail is one transaction of an entry; a bank may book several as one.
type camtDetail struct {
	Name     string     `xml:"Refs>AcctSvcrRef"`
	ID       string     `xml:"Refs>TxId"`
	Amount   camtAmount `xml:"Amt"`
	Before   camtAmount `xml:"AmtDtls>TxAmt>Amt"` // until version 2
	Way      string     `xml:"CdtDbtInd"`
	Payer    string     `xml:"RltdPties>Dbtr>Nm"`
	PayerOf  string     `xml:"RltdPties>Dbtr>Pty>Nm"` // since version 8
	Words    []string   `xml:"RmtInf>Ustrd"`
	Referred []string   `xml:"RmtInf>Strd>CdtrRefInf>Ref"`
}

type camtAmount struct {
	Text     string `xml:",chardata"`
	Currency string `xml:"Ccy,attr"`
}

func readCAMT(content []byte) (s Statement, err error) {
	s.Format = "CAMT.053"
	var doc camtDocument
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		switch strings.ToLower(name) {
		case "iso-8859-1", "iso-8859-15", "windows-1252":
			return charmap.Windows1252.NewDecoder().Reader(r), nil
		}
		return nil, errors.New("its encoding is unknown")
	}
	if err := d.Decode(&doc); err != nil {
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return s, wrongFile(text.Say("The file is damaged: line %d: %s. Export it again.", syntax.Line, syntax.Msg))
		}
		return s, wrongFile(text.Say("This is XML, and no statement in CAMT.053."))
	}
	if len(doc.Statements) == 0 {
		return s, wrongFile(text.Say("This is XML, and no statement in CAMT.053."))
	}
	s.Account = spaces.Replace(doc.Statements[0].IBAN)
	var names []named
	bookings := 0
	for _, statement := range doc.Statements {
		if spaces.Replace(statement.IBAN) != s.Account {
			return s, wrongFile(text.Say("The file has statements of several accounts. Export one account at a time."))
		}
		for i, e := range statement.Entries {
			bookings++
			more, err := s.addCAMT(e)
			if err != nil {
				return s, wrongFile(text.Say("Entry %d: %v.", i+1, err))
			}
			for _, name := range more {
				names = append(names, named{name, bookings})
			}
		}
	}
	s.keys(names)
	return s, nil
}

// addCAMT adds the transactions of an entry, and returns the bank's name of each.
func (s *Statement) addCAMT(e camtEntry) (names []string, err error) {
	booked := strings.TrimSpace(e.Status.Text+e.Status.Code) == "BOOK"
	if !booked || e.Way != "CRDT" || e.Reversal {
		s.Skipped++
		return nil, nil
	}
	day, err := time.Parse(time.DateOnly, firstOf(e.Day, e.Moment)[:min(len(firstOf(e.Day, e.Moment)), len(time.DateOnly))])
	if err != nil {
		return nil, errors.New("it has no booking date")
	}
	parts := e.Parts
	if len(parts) == 0 {
		parts = []camtDetail{{Words: []string{e.Further}}}
	}
	for _, part := range parts {
		amount := part.Amount
		if amount.Text == "" {
			amount = part.Before
		}
		if amount.Text == "" || len(parts) == 1 {
			amount = e.Amount
		}
		if part.Way == "DBIT" {
			s.Skipped++
			continue
		}
		currency := strings.TrimSpace(amount.Currency)
		minor, err := pricing.ReadAmount(trimZeros(strings.TrimSpace(amount.Text), currency), currency)
		if err != nil || pricing.CheckCurrency(currency) != nil || minor == 0 {
			return nil, errors.New("its amount cannot be read")
		}
		words := strings.Join(part.Words, " ")
		err = s.add(Entry{Booked: day, Amount: minor, Currency: currency, Reference: strings.Join(part.Referred, " "), Payer: firstOf(part.Payer, part.PayerOf), Text: words})
		if err != nil {
			return nil, err
		}
		names = append(names, firstOf(part.Name, part.ID, e.Name))
	}
	return names, nil
}

// trimZeros takes decimals away that the currency does not have, as in 12.00000.
func trimZeros(text, currency string) string {
	whole, rest, has := strings.Cut(text, ".")
	for has && len(rest) > pricing.Decimals(currency) && strings.HasSuffix(rest, "0") {
		rest = rest[:len(rest)-1]
	}
	if rest == "" {
		return whole
	}
	return whole + "." + rest
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" && text != "NOTPROVIDED" && text != "NONREF" {
			return text
		}
	}
	return ""
}
