package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type accountsAnswer struct {
	Accounts   []accountBody `json:"accounts"`
	Consultant int           `json:"consultant"`
	Client     int           `json:"client"`
	Digits     int           `json:"digits"`
	YearMonth  int           `json:"year_month"`
}

type accountBody struct {
	Field  string `json:"field"`
	Name   string `json:"name"`
	Number string `json:"number"`
}

// Accounts answers GET /desk/books/accounts
func (h *Handlers) Accounts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showAccounts(w, r, m, http.StatusOK, nil, "")
}

func (h *Handlers) showAccounts(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, form url.Values, wrong string) error {
	chart, keys, err := h.Server.Books.Chart(r.Context(), m)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := accountsAnswer{[]accountBody{}, chart.Consultant, chart.Client, chart.Digits, chart.YearMonth}
		for _, k := range keys {
			answer.Accounts = append(answer.Accounts, accountBody{desk.AccountField(k), desk.AccountName(r.Context(), k), chart.Accounts[k.String()]})
		}
		return web.WriteJSON(w, status, answer)
	}
	p := desk.AccountsPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Accounts")), Chart: chart, Keys: keys, Form: form, Wrong: wrong}
	p.Path = desk.AccountsPath
	return web.WritePage(w, r, status, desk.Accounts(p))
}

// SetAccounts answers POST /desk/books/accounts: all of them. An account that is not named has no number.
func (h *Handlers) SetAccounts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	f := &fieldReader{form: form}
	chart := books.Chart{Accounts: map[string]string{}, Consultant: f.whole("consultant"), Client: f.whole("client"), Digits: 4, YearMonth: 1}
	if f.text("digits") != "" {
		chart.Digits = f.whole("digits")
	}
	if f.text("year_month") != "" {
		chart.YearMonth = f.whole("year_month")
	}
	for name := range form {
		if of, is := strings.CutPrefix(name, "account."); is {
			chart.Accounts[of] = f.text(name)
		}
	}
	if err = f.err; err == nil {
		err = h.Server.Books.SetChart(r.Context(), m, chart, deskKeyOf(r, form))
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showAccounts(w, r, m, deskStatus(err), form, words)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.AccountsPath, "set")
}

// journal answers with what the team earned for its accountant: as a list, or as a DATEV file.
func (h *Handlers) journal(w http.ResponseWriter, r *http.Request, m organizers.Member, name, kind string) error {
	f, _, err := booksFilter(r)
	if err != nil {
		return err
	}
	entries, chart, err := h.Server.Books.Journal(r.Context(), m, f)
	var missing *books.MissingAccounts
	if errors.As(err, &missing) {
		return noAccounts(r.Context(), missing)
	}
	if err != nil {
		return err
	}
	var file []byte
	if name == "datev" {
		if file, err = books.Datev(chart, f, entries, time.Now().UTC()); err != nil {
			return err
		}
	}
	if err := h.Organizers.Record(r.Context(), m, "exported books", "books", map[string]string{"from": f.From, "to": f.To, "by": name, "as": kind}); err != nil {
		return err
	}
	if name == "datev" {
		w.Header().Set("Content-Disposition", `attachment; filename="EXTF_`+booksFileName(f, "")+`.csv"`)
		w.Header().Set("Content-Type", "text/csv; charset=windows-1252")
		_, _ = w.Write(file) // a reader who is gone needs none
		return nil
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+booksFileName(f, "journal")+"."+kind+`"`)
	if kind == "json" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		return h.finishSheet(w, r, newJSON(w, "entries", 0), func(to sheet) error { return journalRows(to, entries) })
	}
	return h.writeSheet(w, r, kind, time.UTC, func(to sheet) error { return journalRows(to, entries) })
}

// noAccounts says which accounts have no number.
func noAccounts(ctx context.Context, missing *books.MissingAccounts) error {
	return seats.Unchanged(text.Say("There is no account number for: %s. Enter the numbers on the page Accounts.", accountNames(ctx, missing)))
}

func accountNames(ctx context.Context, missing *books.MissingAccounts) string {
	names := make([]string, len(missing.Keys))
	for i, k := range missing.Keys {
		names[i] = desk.AccountName(ctx, k)
	}
	return text.List(ctx, names)
}

// journalRows writes entries. Money that went is negative.
func journalRows(to sheet, entries []books.Entry) error {
	if err := to.row("day", "event", "text", "of", "method", "debit", "credit", "currency", "amount", "tax rate", "tax"); err != nil {
		return err
	}
	for _, e := range entries {
		d := pricing.Decimals(e.Currency)
		if err := to.row(e.Day, e.Event, e.Text, e.Line, e.Method, e.Debit, e.Credit, e.Currency, amount{e.Amount, d}, pricing.Rate(e.Rate), amount{e.Tax, d}); err != nil {
			return err
		}
	}
	return nil
}
