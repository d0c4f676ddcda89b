package banktransfer

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Names of columns as banks export them, folded: small letters and digits only.
var columnNames = map[string][]string{
	"date":      {"date", "bookingdate", "bookeddate", "transactiondate", "buchungstag", "buchungsdatum", "datum", "valutadatum", "valuta", "dateoperation", "datedecomptabilisation", "boekingsdatum", "boekdatum", "fecha", "data"},
	"amount":    {"amount", "credit", "betrag", "betrageur", "betragineur", "betragchf", "umsatz", "gutschrift", "gutschriftinchf", "montant", "montanteur", "bedrag", "bedrageur", "importe", "importo"},
	"currency":  {"currency", "waehrung", "wahrung", "whrung", "devise", "munt", "muntsoort", "valuta2", "divisa"},
	"payer":     {"payer", "name", "counterparty", "counterpartyname", "beguenstigterzahlungspflichtiger", "auftraggeber", "auftraggeberempfaenger", "namezahlungsbeteiligter", "zahlungspflichtiger", "zahlungspflichtigerr", "tegenpartij", "naamtegenpartij", "debtor"},
	"text":      {"text", "purpose", "description", "details", "remittance", "remittanceinformation", "paymentreference", "verwendungszweck", "buchungstext2", "buchungsdetails", "mitteilung", "avisierungstext", "libelle", "communication", "omschrijving", "mededelingen", "concepto", "descrizione", "causale"},
	"reference": {"reference", "creditorreference", "zahlungsreferenz", "referenz", "referenznummer"},
	"id":        {"id", "transactionid", "entryid", "bankreference", "transaktionsid"},
}

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "à", "a")

func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, umlauts.Replace(strings.ToLower(strings.TrimPrefix(name, "\ufeff"))))
}

// columnsOf says where the columns are; false if the record is no line of column names.
func columnsOf(record []string) (at map[string]int, is bool) {
	at = map[string]int{}
	for i, name := range record {
		for column, names := range columnNames {
			if _, known := at[column]; !known && slices.Contains(names, foldName(name)) {
				at[column] = i
			}
		}
	}
	_, dated := at["date"]
	_, counted := at["amount"]
	return at, dated && counted
}

// readCSV reads entries below a line of column names, which may come after some lines about the account.
func readCSV(content, currency string) (s Statement, err error) {
	const mostLinesAbove = 30
	s.Format = "CSV"
	r := csv.NewReader(strings.NewReader(content))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = separator(content), -1, true
	var at map[string]int
	var names []named
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return s, wrongFile(text.Say("The file is damaged: line %d: %v. Export it again.", wrong.Line, wrong.Err))
		}
		line, _ := r.FieldPos(0)
		if at == nil {
			if columns, is := columnsOf(record); is {
				at = columns
			} else if line > mostLinesAbove {
				break
			}
			continue
		}
		name, err := s.addRecord(record, at, currency)
		var told *FileError
		if errors.As(err, &told) {
			return s, err
		}
		if err != nil {
			return s, wrongFile(text.Say("Line %d: %v.", line, err))
		}
		if len(s.Entries) > len(names) {
			names = append(names, named{name, line})
		}
	}
	if at == nil {
		return s, wrongFile(text.Say("This is no statement: no line names a column with the date and one with the amount."))
	}
	s.keys(names)
	return s, nil
}

// separator is what stands between columns: of three the one that is most frequent.
func separator(text string) rune {
	best := ';'
	for _, r := range ",\t" {
		if strings.Count(text, string(r)) > strings.Count(text, string(best)) && (r == '\t' || strings.Count(text, ";") < 3) {
			best = r
		}
	}
	return best
}

// addRecord adds an entry, and returns the bank's name of it.
func (s *Statement) addRecord(record []string, at map[string]int, currency string) (name string, err error) {
	field := func(column string) string {
		if i, there := at[column]; there && i < len(record) {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	if strings.Join(record, "") == "" || field("date") == "" || field("amount") == "" {
		if field("amount")+field("date") != "" {
			s.Skipped++ // a line of a balance, or a debit in a column of its own
		}
		return "", nil
	}
	if own := strings.ToUpper(field("currency")); own != "" {
		currency = own
	}
	if pricing.CheckCurrency(currency) != nil {
		return "", errors.New("its currency cannot be read")
	}
	amount, err := readAmount(field("amount"), currency)
	if err != nil {
		return "", errors.New("its amount cannot be read")
	}
	day, err := readDay(field("date"))
	if err != nil {
		return "", errors.New("its date cannot be read")
	}
	if amount <= 0 {
		s.Skipped++
		return "", nil
	}
	return firstOf(field("id")), s.add(Entry{Booked: day, Amount: amount, Currency: currency, Reference: field("reference"), Payer: field("payer"), Text: field("text")})
}

// readDay reads a day. One with slashes begins with the day, as in most of the world.
func readDay(text string) (time.Time, error) {
	text, _, _ = strings.Cut(text, " ")
	text, _, _ = strings.Cut(text, "T")
	for _, form := range []string{time.DateOnly, "2.1.2006", "2.1.06", "2/1/2006", "2-1-2006", "2006/1/2", "20060102"} {
		if day, err := time.Parse(form, text); err == nil {
			return day, nil
		}
	}
	return time.Time{}, errors.New("no day")
}
