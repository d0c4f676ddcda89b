package desk

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type booksAnswer struct {
	From       string       `json:"from"`
	To         string       `json:"to"`
	By         string       `json:"by"`
	Currencies []reportBody `json:"currencies"`
}

type reportBody struct {
	Currency string    `json:"currency"`
	Rows     []rowBody `json:"rows"`
	Total    sumsBody  `json:"total"`
}

type rowBody struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	sumsBody
}

type sumsBody struct {
	Tickets   int   `json:"tickets"`
	Received  int64 `json:"received"`
	Exchanged int64 `json:"exchanged"`
	Refunded  int64 `json:"refunded"`
	Total     int64 `json:"total"`
	Fees      int64 `json:"fees"`
	Tax       int64 `json:"tax"`
	Net       int64 `json:"net"`
}

func describeSums(s books.Sums) sumsBody {
	return sumsBody{s.Tickets, s.Gross, s.Exchanged, s.Refunds, s.Total(), s.Fees, s.Tax, s.Net()}
}

// Books answers GET /desk/books
func (h *Handlers) Books(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, by, err := booksFilter(r)
	if err != nil {
		return err
	}
	reports, err := h.Server.Books.Report(r.Context(), m, f, by)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeBooks(r.Context(), f, by, reports))
	}
	p := desk.BooksPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Books")), Filter: f, By: by, Reports: reports, Today: time.Now().UTC()}
	p.Path = desk.BooksPath
	return web.WritePage(w, r, http.StatusOK, desk.Books(p))
}

func describeBooks(ctx context.Context, f books.Filter, by string, reports []books.Report) booksAnswer {
	answer := booksAnswer{From: f.From, To: f.To, By: by, Currencies: []reportBody{}}
	for _, r := range reports {
		body := reportBody{Currency: r.Currency, Rows: []rowBody{}, Total: describeSums(r.Total)}
		for _, row := range r.Rows {
			body.Rows = append(body.Rows, rowBody{cmp.Or(row.Key, row.Line), desk.GroupName(ctx, by, row), describeSums(row.Sums)})
		}
		answer.Currencies = append(answer.Currencies, body)
	}
	return answer
}

// booksFilter reads which books are asked for: this month by day, if nothing is.
func booksFilter(r *http.Request) (f books.Filter, by string, err error) {
	q := r.URL.Query()
	f = books.Filter{From: q.Get("from"), To: q.Get("to"), Event: q.Get("event"), Series: q.Get("series")}
	if !q.Has("from") && !q.Has("to") {
		now := time.Now().UTC()
		f.From, f.To = now.Format("2006-01-")+"01", now.Format(time.DateOnly)
	}
	for _, day := range []string{f.From, f.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return f, "", web.NewProblem(422, "invalid", text.Mark("The day is not one such as 2030-12-31."), text.Mark("Nothing was changed."), text.Mark("Change it, or leave it out."))
		}
	}
	if f.To != "" && f.From > f.To {
		return f, "", web.NewProblem(422, "invalid", text.Mark("The first day is after the last one."), text.Mark("Nothing was changed."), text.Mark("Exchange the days."))
	}
	if by = cmp.Or(q.Get("by"), books.ByDay); !slices.Contains(books.Groups, by) {
		return f, "", web.NewProblem(422, "invalid", text.Mark("The books cannot be grouped by that."), text.Mark("Nothing was changed."), text.Mark("Choose one of the groups on the page Books."))
	}
	return f, by, nil
}

// BooksFile answers GET /desk/books/{file}
//
// The file is the report as report.csv, report.xlsx or report.json, the journal for accountants as journal.csv, journal.xlsx or journal.json, or as
// datev.csv, or the payouts as payouts.csv or payouts.xlsx.
func (h *Handlers) BooksFile(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	name, kind, _ := strings.Cut(r.PathValue("file"), ".")
	if name == "datev" && kind == "csv" || name == "journal" && (kind == "csv" || kind == "xlsx" || kind == "json") {
		return h.journal(w, r, m, name, kind)
	}
	if name == "payouts" && (kind == "csv" || kind == "xlsx") {
		return h.payoutsFile(w, r, m, kind)
	}
	if name != "report" || kind != "csv" && kind != "xlsx" && kind != "json" {
		return web.ErrNoPage
	}
	f, by, err := booksFilter(r)
	if err != nil {
		return err
	}
	reports, err := h.Server.Books.Report(r.Context(), m, f, by)
	if err != nil {
		return err
	}
	if err := h.Organizers.Record(r.Context(), m, "exported books", "books", map[string]string{"from": f.From, "to": f.To, "by": by, "as": kind}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+booksFileName(f, by)+"."+kind+`"`)
	if kind == "json" {
		return web.WriteJSON(w, http.StatusOK, describeBooks(r.Context(), f, by, reports))
	}
	return h.writeSheet(w, r, kind, time.UTC, func(to sheet) error { return reportRows(r.Context(), to, by, reports) })
}

var plainName = regexp.MustCompile(`[^a-zA-Z0-9-]`)

// booksFileName is the name of a report as a file, without its kind.
func booksFileName(f books.Filter, by string) string {
	name := "books"
	for _, part := range []string{f.Event, f.Series, f.From, f.To, by} {
		if part != "" {
			name += "-" + part
		}
	}
	return plainName.ReplaceAllString(name, "_")
}

// reportRows writes the rows of reports. Money that went is negative, so that columns sum up.
func reportRows(ctx context.Context, to sheet, by string, reports []books.Report) error {
	if err := to.row(by, "name", "start", "currency", "tickets", "received", "exchanged", "refunded", "total", "fees", "tax", "net"); err != nil {
		return err
	}
	for _, report := range reports {
		d := pricing.Decimals(report.Currency)
		for _, row := range report.Rows {
			start := any(nil)
			if by == books.ByPerformance {
				start = row.Event.StartsAt
			}
			err := to.row(cmp.Or(row.Key, row.Line), desk.GroupName(ctx, by, row), start, report.Currency, row.Tickets, amount{row.Gross, d}, amount{row.Exchanged, d}, amount{-row.Refunds, d},
				amount{row.Sums.Total(), d}, amount{row.Fees, d}, amount{row.Tax, d}, amount{row.Net(), d})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
