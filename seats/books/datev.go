package books

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// The DATEV format of a batch of entries (Buchungsstapel): header 700, category 21, version 13. Windows-1252, lines that end with CR LF, fields between
// semicolons, texts in quotes, amounts with a decimal comma.

// datevColumns are the headings of the columns. An entry fills few of them.
var datevColumns = func() []string {
	list := []string{
		"Umsatz (ohne Soll/Haben-Kz)", "Soll/Haben-Kennzeichen", "WKZ Umsatz", "Kurs", "Basis-Umsatz", "WKZ Basis-Umsatz", "Konto", "Gegenkonto (ohne BU-Schlüssel)", "BU-Schlüssel",
		"Belegdatum", "Belegfeld 1", "Belegfeld 2", "Skonto", "Buchungstext", "Postensperre", "Diverse Adressnummer", "Geschäftspartnerbank", "Sachverhalt", "Zinssperre", "Beleglink",
	}
	for i := range 8 {
		list = append(list, fmt.Sprintf("Beleginfo - Art %d", i+1), fmt.Sprintf("Beleginfo - Inhalt %d", i+1))
	}
	list = append(list, "KOST1 - Kostenstelle", "KOST2 - Kostenstelle", "Kost-Menge", "EU-Land u. UStID (Bestimmung)", "EU-Steuersatz (Bestimmung)", "Abw. Versteuerungsart",
		"Sachverhalt L+L", "Funktionsergänzung L+L", "BU 49 Hauptfunktionstyp", "BU 49 Hauptfunktionsnummer", "BU 49 Funktionsergänzung")
	for i := range 20 {
		list = append(list, fmt.Sprintf("Zusatzinformation - Art %d", i+1), fmt.Sprintf("Zusatzinformation- Inhalt %d", i+1))
	}
	return append(list, "Stück", "Gewicht", "Zahlweise", "Forderungsart", "Veranlagungsjahr", "Zugeordnete Fälligkeit", "Skontotyp", "Auftragsnummer", "Buchungstyp",
		"USt-Schlüssel (Anzahlungen)", "EU-Land (Anzahlungen)", "Sachverhalt L+L (Anzahlungen)", "EU-Steuersatz (Anzahlungen)", "Erlöskonto (Anzahlungen)", "Herkunft-Kz", "Buchungs GUID",
		"KOST-Datum", "SEPA-Mandatsreferenz", "Skontosperre", "Gesellschaftername", "Beteiligtennummer", "Identifikationsnummer", "Zeichnernummer", "Postensperre bis",
		"Bezeichnung SoBil-Sachverhalt", "Kennzeichen SoBil-Buchung", "Festschreibung", "Leistungsdatum", "Datum Zuord. Steuerperiode", "Fälligkeit", "Generalumkehr (GU)", "Steuersatz",
		"Land", "Abrechnungsreferenz", "BVV-Position", "EU-Land u. UStID (Ursprung)", "EU-Steuersatz (Ursprung)", "Abw. Skontokonto")
}()

// datevTexts are the columns that stand in quotes, counted from 1, also if they are empty.
var datevTexts = func() (is [126]bool) {
	for _, n := range []int{2, 3, 6, 9, 11, 12, 14, 16, 20, 37, 38, 40, 42, 91, 95, 96, 98, 102, 103, 105, 107, 109, 110, 112, 118, 120, 121, 123} {
		is[n] = true
	}
	for n := range is {
		is[n] = is[n] || n >= 21 && n <= 36 || n >= 48 && n <= 87
	}
	return is
}()

// Datev is entries as a DATEV file of the days of a filter. All are of one currency.
//
// Errors: a *seats.ValidationError if the numbers of the consultant and the client are missing, if the days are not of one business year, or if
// there are several currencies.
func Datev(c Chart, f Filter, entries []Entry, now time.Time) ([]byte, error) {
	if c.Consultant == 0 || c.Client == 0 {
		return nil, seats.Unchanged(text.Say("Enter the DATEV consultant number and client number first."))
	}
	year, err := c.Year(f)
	if err != nil {
		return nil, err
	}
	currency := "EUR"
	for i, e := range entries {
		if i > 0 && e.Currency != currency {
			return nil, seats.Unchanged(text.Say("A DATEV file is of one currency. Choose an event or a series."))
		}
		currency = e.Currency
	}
	var out bytes.Buffer
	compact := func(day string) string { return strings.ReplaceAll(day, "-", "") }
	writeDatev(&out, "EXTF", 700, 21, "Buchungsstapel", 13, raw(now.Format("20060102150405")+"000"), raw(""), "US", "", "", c.Consultant, c.Client, raw(compact(year)), c.Digits,
		raw(compact(f.From)), raw(compact(f.To)), "Ticketverkauf", "", 1, 0, 0, currency, raw(""), "", raw(""), raw(""), "", raw(""), raw(""), "", "")
	names := make([]any, len(datevColumns))
	for i, name := range datevColumns {
		names[i] = raw(name)
	}
	writeDatev(&out, names...)
	for _, e := range entries {
		writeDatev(&out, e.datev()...)
	}
	return out.Bytes(), nil
}

// raw is a field without quotes.
type raw string

func writeDatev(out *bytes.Buffer, fields ...any) {
	for i, field := range fields {
		if i > 0 {
			out.WriteByte(';')
		}
		switch v := field.(type) {
		case raw:
			out.Write(windows1252(string(v)))
		case int:
			out.WriteString(strconv.Itoa(v))
		case string:
			out.WriteByte('"')
			out.Write(windows1252(strings.ReplaceAll(v, `"`, `""`)))
			out.WriteByte('"')
		}
	}
	out.WriteString("\r\n")
}

var notInReference = regexp.MustCompile(`[^a-zA-Z0-9$&%*+/-]`)

// datev is an entry as the fields of a line. What came is debited to the account of its method, and what went is credited to it. The performance is the
// reference and the cost center.
func (e Entry) datev() []any {
	fields := make([]any, len(datevColumns))
	for i := range fields {
		if fields[i] = any(raw("")); datevTexts[i+1] {
			fields[i] = ""
		}
	}
	side, amount := "S", e.Amount
	if amount < 0 {
		side, amount = "H", -amount
	}
	fields[0], fields[1], fields[2] = raw(strings.ReplaceAll(pricing.Amount(amount, e.Currency), ".", ",")), side, e.Currency
	fields[6], fields[7], fields[9] = raw(e.Debit), raw(e.Credit), raw(e.Day[8:10]+e.Day[5:7])
	fields[10] = cut(notInReference.ReplaceAllString(e.Event, "-"), 36)
	fields[13] = cut(plan.Harmless(strings.TrimSpace(e.Text+" "+datevWords[e.Line])), 60)
	fields[36] = cut(notInReference.ReplaceAllString(e.Event, "-"), 36)
	fields[113] = raw("0")
	return fields
}

// datevWords say what a line is of, in the language of the format.
var datevWords = map[string]string{LineTicket: "Tickets", LineFee: "Gebühren", LineDonation: "Spenden", LinePostage: "Versand", LineExcess: "Überzahlung", LineGiftCard: "Gutscheine", LineDeposit: "Anzahlungen", LineRetained: "Einbehaltene Anzahlungen"}

func cut(words string, most int) string {
	letters := []rune(words)
	return string(letters[:min(len(letters), most)])
}

// windows1252Above are the letters of Windows-1252 from 0x80 to 0x9F; 0: none.
var windows1252Above = [32]rune{'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0, 0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ'}

// windows1252 is a text in that encoding, without control characters. What it lacks is a question mark.
func windows1252(words string) []byte {
	var out []byte
	for _, r := range words {
		at := slices.Index(windows1252Above[:], r)
		switch {
		case r < 0x20 || r == 0x7f:
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			out = append(out, byte(r))
		case at >= 0:
			out = append(out, byte(0x80+at))
		default:
			out = append(out, '?')
		}
	}
	return out
}
