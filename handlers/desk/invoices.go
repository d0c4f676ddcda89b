package desk

import (
	"archive/zip"
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

var errNoSender = web.NewProblem(404, "unknown", text.Mark("There is no such document in your team."), "", text.Mark("Look at the list of invoices."))

type bookAnswer struct {
	Sender    *invoices.Sender  `json:"sender,omitempty"`
	Years     []invoices.Series `json:"years"`
	Year      int               `json:"year"`
	Waiting   int               `json:"waiting"`
	Documents []web.InvoiceBody `json:"documents"`
	Next      int64             `json:"next,omitempty"`
	Cursor    string            `json:"next_cursor,omitempty"`
}

// invoicesAtOnce is how many documents a page of the list usually has.
const invoicesAtOnce = 100

// Invoices answers GET /desk/invoices
func (h *Handlers) Invoices(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showInvoices(w, r, m, http.StatusOK, desk.InvoicesPage{})
}

// showInvoices writes the documents of the team and the seller on them, with what p knows besides.
func (h *Handlers) showInvoices(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.InvoicesPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Invoices"))
	p.Path = desk.InvoicesPath
	const of = "invoices"
	page, err := web.Page(r, of, invoicesAtOnce)
	if err != nil {
		return err
	}
	year, _ := strconv.Atoi(r.URL.Query().Get("year")) // 0 is the last one
	if page.After.N == 0 {
		page.After.N, _ = strconv.ParseInt(r.URL.Query().Get("before"), 10, 32) // 0 is the end
		page.After.N = max(page.After.N, 0)
	} else if year == 0 {
		year = int(page.After.Rank)
	}
	if p.Book, err = h.Server.Invoices.Book(r.Context(), m, min(max(year, 0), 9999), page); err != nil {
		return err
	}
	p.Next = p.Book.Next.Cursor(of)
	if p.Mistakes == nil {
		p.Sender, err = h.Server.Invoices.Sender(r.Context(), m)
		if p.Issues = err == nil; err != nil && !errors.Is(err, invoices.ErrNoSender) {
			return err
		}
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, status, desk.Invoices(p))
	}
	answer := bookAnswer{Years: append([]invoices.Series{}, p.Book.Years...), Year: p.Book.Year, Waiting: p.Book.Waiting, Documents: []web.InvoiceBody{}}
	if p.Issues {
		answer.Sender = &p.Sender
	}
	for _, d := range p.Book.List {
		answer.Documents = append(answer.Documents, web.DescribeInvoice(d))
	}
	if p.Book.Next != nil {
		answer.Next, answer.Cursor = p.Book.Next.N, p.Next
	}
	return web.WriteJSON(w, status, answer)
}

// SaveSender answers POST /desk/invoices
func (h *Handlers) SaveSender(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	p := desk.InvoicesPage{}
	for name := range form {
		p.Sender.Set(name, form.Get(name))
	}
	p.Sender.Paused = form.Get("paused") != ""
	err = h.Server.Invoices.SetSender(r.Context(), m, p.Sender, deskKeyOf(r, form))
	if errors.As(err, &p.Mistakes) && !web.WantsJSON(r) {
		return h.showInvoices(w, r, m, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.InvoicesPath, "set")
}

var yearFile = regexp.MustCompile(`^(\d{4})\.(csv|zip)$`)

// Invoice answers GET /desk/invoices/{file}
//
// The file is a document (its number with .pdf or .xml), or all documents of a year: 2030.csv, 2030.zip.
func (h *Handlers) Invoice(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	file := r.PathValue("file")
	if of := yearFile.FindStringSubmatch(file); of != nil {
		return h.invoicesOf(w, r, m, of[1], of[2])
	}
	label := strings.TrimSuffix(strings.TrimSuffix(file, ".pdf"), ".xml")
	d, err := h.Server.Invoices.Find(r.Context(), m, label)
	if errors.Is(err, invoices.ErrNoDocument) {
		return errNoSender
	}
	if err != nil {
		return err
	}
	return h.WriteInvoice(w, r, d, strings.TrimPrefix(file, label), m.Team)
}

// invoicesOf writes all documents of a year, as a list or as their files.
func (h *Handlers) invoicesOf(w http.ResponseWriter, r *http.Request, m organizers.Member, year, kind string) error {
	if err := h.Organizers.Record(r.Context(), m, "exported invoices", "invoices", map[string]string{"year": year, "as": kind}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="invoices-`+year+"."+kind+`"`)
	var err error
	if kind == "csv" {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		list := NewCSV(w)
		if err = list.row(invoiceHead...); err == nil {
			err = h.eachInvoice(r, m, year, func(d invoices.Document) error { return invoiceRows(list, d) })
		}
		if err == nil {
			err = list.end()
		}
	} else {
		w.Header().Set("Content-Type", "application/zip")
		files := zip.NewWriter(w)
		look := h.Print(r, m.Team)
		err = h.eachInvoice(r, m, year, func(d invoices.Document) error {
			return zipInvoice(text.With(r.Context(), h.InvoiceLanguage(r, d)), files, d, look)
		})
		if err == nil {
			err = files.Close()
		}
	}
	if err != nil && r.Context().Err() == nil {
		h.About(w, r).Error("a list was not written to its end", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// eachInvoice visits the documents of a year, the last first.
func (h *Handlers) eachInvoice(r *http.Request, m organizers.Member, year string, visit func(invoices.Document) error) error {
	of, _ := strconv.Atoi(year) // four digits
	page := paging.Page{Limit: invoicesAtOnce}
	for {
		b, err := h.Server.Invoices.Book(r.Context(), m, of, page)
		if err != nil {
			return err
		}
		for _, d := range b.List {
			if err := visit(d); err != nil {
				return err
			}
		}
		if b.Next == nil {
			return nil
		}
		page.After = *b.Next
	}
}

var invoiceHead = []any{"number", "kind", "date", "order", "buyer", "company", "vat id", "corrects", "currency", "rate", "net", "tax", "gross"}

// invoiceRows writes a document, one row for each rate. Amounts of a credit note are negative here, so that a column sums up.
func invoiceRows(to sheet, d invoices.Document) error {
	sign, corrects := int64(1), ""
	if d.Kind == invoices.Credit {
		sign = -1
	}
	if d.Corrects != nil {
		corrects = d.Corrects.Label
	}
	digits := pricing.Decimals(d.Currency)
	for _, rate := range d.Rates() {
		err := to.row(d.Label, d.Kind, d.IssuedOn.Format(time.DateOnly), d.Order, d.Buyer.Name, d.Buyer.Company, d.Buyer.VATID, corrects, d.Currency, pricing.Rate(rate.Rate),
			amount{sign * rate.Net, digits}, amount{sign * rate.Tax, digits}, amount{sign * rate.Gross, digits})
		if err != nil {
			return err
		}
	}
	for _, part := range d.InvoicedBefore() { // so that the invoices of a deposit and of its order come to the order
		if err := to.row(d.Label, d.Kind, d.IssuedOn.Format(time.DateOnly), d.Order, d.Buyer.Name, d.Buyer.Company, d.Buyer.VATID, d.Deposit.Label, d.Currency, pricing.Rate(part.Rate),
			amount{part.Tax - part.Amount, digits}, amount{-part.Tax, digits}, amount{-part.Amount, digits}); err != nil {
			return err
		}
	}
	return nil
}

func zipInvoice(ctx context.Context, files *zip.Writer, d invoices.Document, look shop.Print) error {
	pdf, err := shop.InvoicePaper(ctx, d, look)
	if err != nil {
		return err
	}
	file, err := files.CreateHeader(&zip.FileHeader{Name: d.Label + ".pdf", Method: zip.Deflate, Modified: d.IssuedAt})
	if err == nil {
		_, err = file.Write(pdf)
	}
	return err
}
