package desk

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var (
	errNoEntry = web.NewProblem(404, "unknown", text.Mark("There is no such payment in the statements of your team."), nothingChanged, text.Mark("Load the page again."))
	errDecided = web.NewProblem(409, "decided", text.Mark("This payment was applied or set aside before."), nothingChanged, text.Mark("Load the page again."))
	errNoOrder = web.NewProblem(422, "order", text.Mark("Your team has no order with this code or reference that is paid by bank transfer."), nothingChanged, text.Mark("Compare the code with the order’s page."))
)

type bankAnswer struct {
	Account    bankBody        `json:"account"`
	Entries    []entryBody     `json:"entries"`
	Statements []statementBody `json:"statements"`
}

type bankBody struct {
	Holder string `json:"holder"`
	IBAN   string `json:"iban"`
	BIC    string `json:"bic"`
	Bank   string `json:"bank"`
}

type entryBody struct {
	ID        seats.ID `json:"id"`
	Booked    string   `json:"booked"`
	Amount    int64    `json:"amount"`
	Currency  string   `json:"currency"`
	Reference string   `json:"reference"`
	Payer     string   `json:"payer"`
	Text      string   `json:"text"`
	Order     string   `json:"order,omitempty"`
	Event     string   `json:"event,omitempty"`
	Due       int64    `json:"due"`
	Matches   bool     `json:"matches"`

	Booking     *seats.ID `json:"booking,omitempty"`
	Deposit     int64     `json:"deposit,omitempty"`
	DepositPaid string    `json:"deposit_paid,omitempty"`
}

type statementBody struct {
	Name       string    `json:"name"`
	Format     string    `json:"format"`
	ImportedAt time.Time `json:"imported_at"`
	Entries    int       `json:"entries"`
	Fresh      int       `json:"fresh"`
	Applied    int       `json:"applied"`
	Open       int       `json:"open"`
}

type importAnswer struct {
	Format   string `json:"format"`
	Entries  int    `json:"entries"`
	Fresh    int    `json:"fresh"`
	Applied  int    `json:"applied"`
	Skipped  int    `json:"skipped"`
	Repeated bool   `json:"repeated"`
}

func describeBank(p desk.BankPage) bankAnswer {
	answer := bankAnswer{Account: bankBody(p.Details), Entries: []entryBody{}, Statements: []statementBody{}}
	for _, o := range p.Open {
		answer.Entries = append(answer.Entries, entryBody{
			ID: o.ID, Booked: o.Booked.Format(time.DateOnly), Amount: o.Amount, Currency: o.Currency, Reference: o.Reference, Payer: o.Payer, Text: o.Words,
			Order: o.Order, Event: o.Event, Due: o.Due, Matches: o.Exact() || o.IsDeposit(), Booking: o.Booking, Deposit: o.Deposit, DepositPaid: o.DepositPaid,
		})
	}
	for _, f := range p.Files {
		answer.Statements = append(answer.Statements, statementBody{f.Name, f.Format, f.Imported.UTC(), f.Entries, f.Fresh, f.Applied, f.Open})
	}
	return answer
}

// ShowBank answers GET /desk/bank
func (h *Handlers) ShowBank(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showBank(w, r, m, http.StatusOK, desk.BankPage{})
}

// showBank writes the page of the team's bank account, with what p knows besides.
func (h *Handlers) showBank(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.BankPage) (err error) {
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Bank transfer"))
	p.Path = desk.BankPath
	if p.Mistakes == nil {
		if p.Details, err = h.Banks.Details(r.Context(), m.Team); err != nil {
			return err
		}
	}
	if p.Open, err = h.Banks.Opens(r.Context(), m.Team); err != nil {
		return err
	}
	if p.Files, err = h.Banks.Files(r.Context(), m.Team); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeBank(p))
	}
	return web.WritePage(w, r, status, desk.Bank(p))
}

// SaveBank answers POST /desk/bank
func (h *Handlers) SaveBank(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	d := banktransfer.Details{
		Holder: form.Get(banktransfer.FieldHolder), IBAN: form.Get(banktransfer.FieldIBAN), BIC: form.Get(banktransfer.FieldBIC), Bank: form.Get(banktransfer.FieldBank),
	}
	p := desk.BankPage{Details: d}
	err = h.Banks.Save(r.Context(), m, deskKeyOf(r, form), d)
	if errors.As(err, &p.Mistakes) && !web.WantsJSON(r) {
		return h.showBank(w, r, m, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.BankPath, "set")
}

// ImportStatement answers POST /desk/bank/statements
func (h *Handlers) ImportStatement(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	name, content, err := statementFile(r)
	if err != nil {
		return h.bankRefused(w, r, m, err)
	}
	currency := strings.ToUpper(strings.TrimSpace(r.FormValue("currency")))
	if currency == "" {
		currency = "EUR"
	}
	s, err := banktransfer.Read(content, currency)
	if err != nil {
		return h.bankRefused(w, r, m, err)
	}
	var done banktransfer.Import
	act := organizers.Action{Key: deskKeyOf(r, r.Form), Form: []any{"statement", sha256.Sum256(content)}, What: text.Mark("imported a bank statement"), Subject: "bank", Detail: map[string]any{"file": name, "entries": len(s.Entries)}}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		done, err = h.Banks.Import(r.Context(), m.Team, name, content, s, also)
		return err
	})
	switch {
	case err != nil:
		return h.bankRefused(w, r, m, err)
	case done.Format == "": // the form was sent before
		done.Format, done.Entries, done.Skipped, done.Repeated = s.Format, len(s.Entries), s.Skipped, true
		done.Imported = h.Hub.Now()
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, importAnswer{done.Format, done.Entries, done.Fresh, done.Applied, done.Skipped, done.Repeated})
	}
	return h.showBank(w, r, m, http.StatusOK, desk.BankPage{Imported: desk.ImportWords(r.Context(), done)})
}

// statementFile reads the file of a form.
func statementFile(r *http.Request) (name string, content []byte, err error) {
	file, header, err := r.FormFile("file")
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return "", nil, err
	case err != nil:
		return "", nil, &banktransfer.FileError{Message: text.Say("Choose a file.")}
	}
	defer file.Close()
	content, err = io.ReadAll(io.LimitReader(file, banktransfer.MaxBytes+1))
	if wrong := misnamed(header.Filename, content, desk.StatementFiles); wrong != nil && err == nil {
		err = &banktransfer.FileError{Message: text.Say(wrong.Message, wrong.Args...)}
	}
	return shortened(header.Filename), content, err
}

// bankRefused answers what is wrong with a file or an entry: a browser sees it on the page.
func (h *Handlers) bankRefused(w http.ResponseWriter, r *http.Request, m organizers.Member, err error) error {
	if p := Explain(r.Context(), err); p != nil && !web.WantsJSON(r) {
		return h.showBank(w, r, m, p.Status, desk.BankPage{Message: p.Brief(r.Context())})
	}
	return err
}

// MatchEntries answers POST /desk/bank/matches
func (h *Handlers) MatchEntries(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if _, err := h.Banks.Match(r.Context(), m.Team); err != nil {
		return err
	}
	return deskDone(w, r, desk.BankPath, "paid")
}

// DecideEntry answers POST /desk/bank/entries/{id}
func (h *Handlers) DecideEntry(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := seats.ParseID(r.PathValue("id"))
	if err != nil {
		return banktransfer.ErrNoEntry
	}
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	aside, order := form.Get("aside") != "", form.Get("order")
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"entry", id, aside, order}, What: text.Mark("applied a bank payment"), Subject: "bank/" + id.String(), Detail: map[string]string{"order": order}}
	if aside {
		act.What = text.Mark("set a bank payment aside")
	}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		if aside {
			return h.Banks.SetAside(r.Context(), m.Team, id, also)
		}
		return h.Banks.Apply(r.Context(), m.Team, id, order, also)
	})
	if words, refused := deskRefused(r, err); refused {
		return h.showBank(w, r, m, deskStatus(err), desk.BankPage{Message: words})
	}
	if err != nil {
		return h.bankRefused(w, r, m, err)
	}
	return deskDone(w, r, desk.BankPath, "set")
}

// bankProblem puts an error of a statement file into words; nil if it is none.
func bankProblem(ctx context.Context, err error) *web.Problem {
	var file *banktransfer.FileError
	if errors.As(err, &file) {
		return web.NewProblem(422, "invalid", file.In(ctx), text.Mark("Nothing was imported."), "")
	}
	return nil
}
