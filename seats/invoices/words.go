package invoices

import "github.com/usherbox/usher/seats/pricing"

// Languages are those that documents can be written in. The first one is that of the others.
var Languages = []string{"en", "de"}

// dictionary has the words of documents by language.
var dictionary = map[string]map[string]string{
	"en": {
		Invoice: "Invoice", Credit: "Credit note", "number": "Number", "date": "Date", "day": "Date of the event", "order": "Order", "corrects": "Corrects invoice",
		"net": "Net", "tax": "VAT", "gross": "Total", "total": "Total", "rate": "VAT rate", "to": "To", "vat_id": "VAT id", "tax_number": "Tax number",
		LineTicket: "Ticket", LineFee: "Booking fee", LineKept: "Kept by the cancellation terms", LineRefund: "Refund", "less": "discount",
		"reverse": "Reverse charge: the buyer owes the VAT.", "paid": "Paid with the order.", "due": "Due at the event, or as the order says.", "due on": "Due on", "back": "This amount is refunded, or no longer due.",
	},
	"de": {
		Invoice: "Rechnung", Credit: "Rechnungskorrektur", "number": "Nummer", "date": "Datum", "day": "Veranstaltungstag", "order": "Bestellung", "corrects": "Korrigiert Rechnung",
		"net": "Netto", "tax": "USt.", "gross": "Brutto", "total": "Summe", "rate": "Steuersatz", "to": "An", "vat_id": "USt-IdNr.", "tax_number": "Steuernummer",
		LineTicket: "Karte", LineFee: "Buchungsgebühr", LineKept: "Einbehalt nach den Stornobedingungen", LineRefund: "Erstattung", "less": "Ermäßigung",
		"reverse": "Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).", "paid": "Mit der Bestellung bezahlt.", "due": "Zahlbar bei der Veranstaltung oder laut Bestellung.", "due on": "Zahlbar bis", "back": "Dieser Betrag wird erstattet oder ist nicht mehr zu zahlen.",
	},
}

// Word returns a word of documents in a language; one that is not known is English.
func Word(language, word string) string {
	if words := dictionary[language]; words != nil {
		return words[word]
	}
	return dictionary["en"][word]
}

// Words says what a line is for.
func (d Document) Words(l Line, language string) string {
	words := Word(language, l.Kind)
	if l.Text != "" {
		words += ", " + l.Text
	}
	if l.Place != "" {
		words += ", " + l.Place
	}
	if l.Less > 0 {
		words += ", " + Word(language, "less") + " " + pricing.Amount(l.Less, d.Currency)
		if d.Less != "" {
			words += " (" + d.Less + ")"
		}
	}
	return words
}

// Exemption says why no tax is charged at the rate 0; empty if the seller gave no reason.
func (d Document) Exemption(language string) string {
	if d.Reverse {
		return Word(language, "reverse")
	}
	return d.Seller.Exemption
}

// Terms says how a document is paid.
func (d Document) Terms(language string) string {
	switch {
	case d.Kind == Credit:
		return Word(language, "back")
	case d.Paid:
		return Word(language, "paid")
	case d.DueOn != "":
		return Word(language, "due on") + " " + d.DueOn + "."
	}
	return Word(language, "due")
}
