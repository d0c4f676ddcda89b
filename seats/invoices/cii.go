package invoices

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/pricing"
)

// ErrNotElectronic says that a document cannot be written as EN 16931 asks: it names no country of the buyer, or its
// currency has more than two decimals.
var ErrNotElectronic = errors.New("an electronic invoice names the country of the buyer")

// Electronic reports whether a document can be written as EN 16931 asks.
func (d Document) Electronic() bool {
	return d.Buyer.Country != "" && pricing.Decimals(d.Currency) <= 2
}

// profile is the guideline that the XML keeps to: all of EN 16931, and no more.
const profile = "urn:cen.eu:en16931:2017"

// Type codes of UNTDID 1001.
const (
	typeInvoice = "380"
	typeCredit  = "381"

	typePrepayment = "386"
)

// XML writes the document as Cross Industry Invoice (UN/CEFACT D16B), in the form of EN 16931. It is the XML of Factur-X and
// ZUGFeRD.
func (d Document) XML() ([]byte, error) {
	if !d.Electronic() {
		return nil, ErrNotElectronic
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	d.root().write(&b, 0)
	return b.Bytes(), nil
}

// element is an element of XML. One without text and children is left out.
type element struct {
	name, attr, text string
	children         []element
}

func el(name string, children ...element) element { return element{name: name, children: children} }

func leaf(name, text string) element { return element{name: name, text: text} }

func (e element) empty() bool {
	for _, c := range e.children {
		if !c.empty() {
			return false
		}
	}
	return e.text == ""
}

func (e element) write(b *bytes.Buffer, depth int) {
	if e.empty() {
		return
	}
	indent := "\n" + strings.Repeat("  ", depth)
	if depth == 0 {
		indent = ""
	}
	b.WriteString(indent + "<" + e.name + e.attr + ">")
	_ = xml.EscapeText(b, []byte(e.text)) // a buffer takes everything
	for _, c := range e.children {
		c.write(b, depth+1)
	}
	if len(e.children) > 0 {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString("</" + e.name + ">")
}

const namespaces = ` xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"` +
	` xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"` +
	` xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100"` +
	` xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"`

func (d Document) root() element {
	code := typeInvoice
	switch d.Kind {
	case Credit:
		code = typeCredit
	case Prepayment:
		code = typePrepayment
	}
	transaction := el("rsm:SupplyChainTradeTransaction")
	for i, l := range d.Lines {
		transaction.children = append(transaction.children, d.line(i+1, l))
	}
	transaction.children = append(transaction.children,
		el("ram:ApplicableHeaderTradeAgreement", d.Seller.element("ram:SellerTradeParty"), d.Buyer.element("ram:BuyerTradeParty")),
		el("ram:ApplicableHeaderTradeDelivery", el("ram:ActualDeliverySupplyChainEvent", date("ram:OccurrenceDateTime", "udt", d.Day))),
		d.settlement())
	root := el("rsm:CrossIndustryInvoice",
		el("rsm:ExchangedDocumentContext", el("ram:GuidelineSpecifiedDocumentContextParameter", leaf("ram:ID", profile))),
		el("rsm:ExchangedDocument", leaf("ram:ID", d.Label), leaf("ram:TypeCode", code), date("ram:IssueDateTime", "udt", d.IssuedOn.Format(time.DateOnly)),
			el("ram:IncludedNote", leaf("ram:Content", d.Event+", "+d.Day))),
		transaction)
	root.attr = namespaces
	return root
}

// date writes a day, given as 2006-01-02.
func date(name, space, day string) element {
	return el(name, element{name: space + ":DateTimeString", attr: ` format="102"`, text: strings.ReplaceAll(day, "-", "")})
}

// element writes a seller or buyer.
func (p Party) element(name string) element {
	called, contact := p.Name, ""
	if p.Company != "" {
		called, contact = p.Company, p.Name
	}
	registration := func(scheme, id string) element {
		return el("ram:SpecifiedTaxRegistration", element{name: "ram:ID", attr: ` schemeID="` + scheme + `"`, text: id})
	}
	return el(name, leaf("ram:Name", called), leaf("ram:Description", p.Register),
		el("ram:DefinedTradeContact", leaf("ram:PersonName", contact)),
		el("ram:PostalTradeAddress", leaf("ram:PostcodeCode", p.Postcode), leaf("ram:LineOne", p.Street), leaf("ram:CityName", p.City), leaf("ram:CountryID", p.Country)),
		el("ram:URIUniversalCommunication", element{name: "ram:URIID", attr: ` schemeID="EM"`, text: p.Email}),
		registration("VA", p.VATID), registration("FC", p.TaxNumber))
}

// line writes a line. A price is never negative: a line that reduces the document has a negative quantity.
func (d Document) line(n int, l Line) element {
	quantity, net := "1", l.Net
	if l.Net < 0 {
		quantity, net = "-1", -l.Net
	}
	return el("ram:IncludedSupplyChainTradeLineItem",
		el("ram:AssociatedDocumentLineDocument", leaf("ram:LineID", fmt.Sprint(n))),
		el("ram:SpecifiedTradeProduct", leaf("ram:Name", d.Words(context.Background(), l))),
		el("ram:SpecifiedLineTradeAgreement", el("ram:NetPriceProductTradePrice", leaf("ram:ChargeAmount", d.amount(net)))),
		el("ram:SpecifiedLineTradeDelivery", element{name: "ram:BilledQuantity", attr: ` unitCode="C62"`, text: quantity}),
		el("ram:SpecifiedLineTradeSettlement",
			el("ram:ApplicableTradeTax", leaf("ram:TypeCode", "VAT"), leaf("ram:CategoryCode", d.category(l.Rate)), leaf("ram:RateApplicablePercent", pricing.Rate(l.Rate))),
			el("ram:SpecifiedTradeSettlementLineMonetarySummation", leaf("ram:LineTotalAmount", d.amount(l.Net)))))
}

// category is the code of UNTDID 5305 for a rate: standard, reverse charge, or exempt for the rate 0.
func (d Document) category(rate int) string {
	switch {
	case rate > 0:
		return "S"
	case d.Reverse:
		return "AE"
	}
	return "E"
}

// noReason stands for why no tax is charged if the seller has not said it.
const noReason = "Exempt from VAT"

func (d Document) settlement() element {
	s := el("ram:ApplicableHeaderTradeSettlement", leaf("ram:InvoiceCurrencyCode", d.Currency))
	for _, r := range d.Rates() {
		reason := ""
		if r.Rate == 0 {
			if reason = d.Exemption(context.Background()); reason == "" {
				reason = noReason
			}
		}
		s.children = append(s.children, el("ram:ApplicableTradeTax", leaf("ram:CalculatedAmount", d.amount(r.Tax)), leaf("ram:TypeCode", "VAT"),
			leaf("ram:ExemptionReason", reason), leaf("ram:BasisAmount", d.amount(r.Net)), leaf("ram:CategoryCode", d.category(r.Rate)), leaf("ram:RateApplicablePercent", pricing.Rate(r.Rate))))
	}
	paid, due := int64(0), d.Gross
	if d.Kind != Credit {
		due = d.Due()
		paid = d.Gross - due
	}
	terms := el("ram:SpecifiedTradePaymentTerms", leaf("ram:Description", d.Terms(context.Background())))
	if d.DueOn != "" && due > 0 && d.Kind != Credit {
		terms.children = append(terms.children, date("ram:DueDateDateTime", "udt", d.DueOn))
	}
	total := element{name: "ram:TaxTotalAmount", attr: ` currencyID="` + d.Currency + `"`, text: d.amount(d.Tax)}
	s.children = append(s.children, terms, el("ram:SpecifiedTradeSettlementHeaderMonetarySummation",
		leaf("ram:LineTotalAmount", d.amount(d.Net)), leaf("ram:TaxBasisTotalAmount", d.amount(d.Net)), total,
		leaf("ram:GrandTotalAmount", d.amount(d.Gross)), leaf("ram:TotalPrepaidAmount", d.amount(paid)), leaf("ram:DuePayableAmount", d.amount(due))))
	if d.Corrects != nil {
		s.children = append(s.children, el("ram:InvoiceReferencedDocument", leaf("ram:IssuerAssignedID", d.Corrects.Label), date("ram:FormattedIssueDateTime", "qdt", d.Corrects.On)))
	} else if d.Deposit != nil && d.Deposit.Label != "" {
		s.children = append(s.children, el("ram:InvoiceReferencedDocument", leaf("ram:IssuerAssignedID", d.Deposit.Label)))
	}
	return s
}

func (d Document) amount(minor int64) string { return pricing.Amount(minor, d.Currency) }
