package desk

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
)

type tillBody struct {
	Required bool              `json:"required"`
	Methods  []string          `json:"methods"`
	Open     []tillSessionBody `json:"open"`
	Sessions []tillSessionBody `json:"sessions"`
}

type tillSessionBody struct {
	ID         int64          `json:"id"`
	Who        string         `json:"who"`
	Currency   string         `json:"currency"`
	Opening    int64          `json:"opening"`
	OpenedAt   time.Time      `json:"opened_at"`
	Number     int64          `json:"number,omitempty"`
	ClosedAt   *time.Time     `json:"closed_at,omitempty"`
	Day        string         `json:"day,omitempty"`
	Counted    *int64         `json:"counted,omitempty"`
	Expected   *int64         `json:"expected,omitempty"`
	Difference *int64         `json:"difference,omitempty"`
	Taken      *int64         `json:"taken,omitempty"`
	Note       string         `json:"note,omitempty"`
	Reader     *readerName    `json:"reader,omitempty"`
	Lines      []tillLineBody `json:"lines,omitempty"`
	Moves      []tillMoveBody `json:"moves,omitempty"`
}

// readerName is the card reader of a session.
type readerName struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

type tillLineBody struct {
	Kind    till.Kind `json:"kind"`
	Method  string    `json:"method"`
	Name    string    `json:"name,omitempty"`
	Count   int64     `json:"count"`
	Tickets int64     `json:"tickets"`
	Amount  int64     `json:"amount"`
}

type tillMoveBody struct {
	Kind   till.Kind `json:"kind"`
	Amount int64     `json:"amount"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

func describeSession(s till.Session) tillSessionBody {
	b := tillSessionBody{ID: s.ID, Who: s.Who, Currency: s.Currency, Opening: s.Opening, OpenedAt: s.OpenedAt.UTC(), Number: s.Number, Day: s.Day, Note: s.Note}
	if s.Reader != "" {
		b.Reader = &readerName{s.Reader, s.ReaderLabel}
	}
	if s.Closed() {
		at, difference := s.ClosedAt.UTC(), s.Difference()
		b.ClosedAt, b.Counted, b.Expected, b.Difference, b.Taken = &at, &s.Counted, &s.Expected, &difference, &s.Taken
	} else if s.Lines != nil {
		expected, taken := s.Cash(), s.Turnover()
		b.Expected, b.Taken = &expected, &taken
	}
	for _, l := range s.Lines {
		b.Lines = append(b.Lines, tillLineBody(l))
	}
	for _, v := range s.Moves {
		b.Moves = append(b.Moves, tillMoveBody{v.Kind, v.Amount, v.Reason, v.At.UTC()})
	}
	return b
}

func describeSessions(list []till.Session) []tillSessionBody {
	bodies := make([]tillSessionBody, 0, len(list))
	for _, s := range list {
		bodies = append(bodies, describeSession(s))
	}
	return bodies
}

// Tills answers GET /desk/till: the sessions of the member, or of the team for those who may see its figures.
func (h *Handlers) Tills(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showTills(w, r, m, http.StatusOK, desk.TillsPage{})
}

func (h *Handlers) showTills(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.TillsPage) (err error) {
	if p.Settings, err = till.SettingsOf(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	if p.Open, err = till.Current(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	if p.Sessions, err = till.Latest(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, tillBody{p.Settings.Required, append([]string{}, p.Settings.Methods...), describeSessions(p.Open), describeSessions(p.Sessions)})
	}
	if p.Currency, p.Zone, err = h.tillPlace(r, m, p.Sessions); err != nil {
		return err
	}
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Till"))
	p.Path, p.Style = desk.TillPath, "desk.css till.css"
	return web.WritePage(w, r, status, desk.Tills(p))
}

// tillPlace is the currency and time zone of the next session: those of the last one, or of the newest event.
func (h *Handlers) tillPlace(r *http.Request, m organizers.Member, list []till.Session) (currency, zone string, err error) {
	if len(list) > 0 {
		return list[0].Currency, list[0].Zone, nil
	}
	latest, ok, err := h.Overview.Latest(r.Context(), m)
	if err != nil || !ok {
		return "EUR", "UTC", err
	}
	return latest.Currency, latest.TimeZone, nil
}

// SetTill answers POST /desk/till: the settings.
func (h *Handlers) SetTill(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	err = till.Set(r.Context(), h.Organizers, m, deskKeyOf(r, form), till.Settings{Required: form.Get("required") != "", Methods: form["methods"]})
	if words, refused := deskRefused(r, err); refused {
		return h.showTills(w, r, m, deskStatus(err), desk.TillsPage{Message: words})
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.TillPath, "set")
}

// tillAmount reads cash of a form. An empty one is nothing.
func tillAmount(form url.Values, field, currency string) (int64, error) {
	typed := strings.TrimSpace(form.Get(field))
	if typed == "" {
		return 0, nil
	}
	amount, err := pricing.ReadAmount(typed, currency)
	if err != nil || amount < 0 {
		return 0, &seats.ValidationError{Message: text.Mark("Enter an amount, such as 200.00. Nothing was changed.")}
	}
	return amount, nil
}

// OpenTill answers POST /desk/till/sessions
func (h *Handlers) OpenTill(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	o := till.Opening{Currency: strings.ToUpper(form.Get("currency")), Zone: form.Get("zone")}
	if o.Currency == "" || o.Zone == "" {
		latest, err := till.Latest(r.Context(), h.Organizers, m)
		if err != nil {
			return err
		}
		currency, zone, err := h.tillPlace(r, m, latest)
		if err != nil {
			return err
		}
		if o.Zone = zone; o.Currency == "" {
			o.Currency = currency
		}
	}
	if o.Float, err = tillAmount(form, "float", o.Currency); err == nil {
		err = till.Open(r.Context(), h.Organizers, m, deskKeyOf(r, form), o)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showTills(w, r, m, deskStatus(err), desk.TillsPage{Message: words})
	}
	if err != nil {
		return err
	}
	list, err := till.Current(r.Context(), h.Organizers, m)
	if err != nil {
		return err
	}
	to := desk.TillPath
	if form.Get("to") != "" {
		to = DeskBack(form.Get("to"))
	}
	s, _ := till.InCurrency(list, o.Currency)
	return deskWith(w, r, to, "till-open", http.StatusCreated, describeSession(s))
}

// AddToTill answers POST /desk/till/sessions/{id}/entries
func (h *Handlers) AddToTill(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.onSession(w, r, m, "till-entry", http.StatusCreated, func(s till.Session, form url.Values, key string) error {
		amount, err := tillAmount(form, "amount", s.Currency)
		if err != nil {
			return err
		}
		return till.Add(r.Context(), h.Organizers, m, key, s.ID, till.Moving{Kind: till.Kind(form.Get("kind")), Amount: amount, Reason: form.Get("reason")})
	})
}

// CloseTill answers POST /desk/till/sessions/{id}/closing
func (h *Handlers) CloseTill(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.onSession(w, r, m, "till-closed", http.StatusOK, func(s till.Session, form url.Values, key string) error {
		if strings.TrimSpace(form.Get("counted")) == "" {
			return &seats.ValidationError{Message: text.Mark("Enter the cash that you counted, such as 200.00. Nothing was changed.")}
		}
		counted, err := tillAmount(form, "counted", s.Currency)
		if err != nil {
			return err
		}
		return till.Close(r.Context(), h.Organizers, m, key, s.ID, till.Closing{Counted: counted, Note: form.Get("note")})
	})
}

// onSession does what a form asks for to the session of the address, and answers with it.
func (h *Handlers) onSession(w http.ResponseWriter, r *http.Request, m organizers.Member, done string, status int, do func(s till.Session, form url.Values, key string) error) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	s, err := h.tillSession(r, m, r.PathValue("id"))
	if err != nil {
		return err
	}
	err = do(s, form, deskKeyOf(r, form))
	if words, refused := deskRefused(r, err); refused {
		return h.showSession(w, r, m, deskStatus(err), desk.TillSessionPage{Session: s, Message: words})
	}
	if err != nil {
		return err
	}
	if s, err = till.Find(r.Context(), h.Organizers, m, s.ID); err != nil {
		return err
	}
	return deskWith(w, r, desk.TillSessionPath(s.ID), done, status, describeSession(s))
}

func (h *Handlers) tillSession(r *http.Request, m organizers.Member, written string) (till.Session, error) {
	id, err := strconv.ParseInt(written, 10, 64)
	if err != nil || id <= 0 {
		return till.Session{}, errNothing
	}
	return till.Find(r.Context(), h.Organizers, m, id)
}

// TillSession answers GET /desk/till/sessions/{file}: the report of a session as a page, as JSON, or as 12.csv.
func (h *Handlers) TillSession(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	number, kind, _ := strings.Cut(r.PathValue("file"), ".")
	s, err := h.tillSession(r, m, number)
	switch {
	case err != nil:
		return err
	case kind == "csv":
		return h.tillCSV(w, r, m, "till-"+number, []till.Session{s}, s.Lines)
	case kind != "":
		return web.ErrNoPage
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusOK, describeSession(s))
	}
	return h.showSession(w, r, m, http.StatusOK, desk.TillSessionPage{Session: s})
}

func (h *Handlers) showSession(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.TillSessionPage) error {
	title := text.T(r.Context(), "Till")
	if p.Session.Closed() {
		title = text.T(r.Context(), "Z report %d", p.Session.Number)
	}
	p.Frame = h.frame(w, r, m, title)
	p.Style = "desk.css till.css"
	p.Own = p.Session.Organizer == m.Organizer && p.Session.Key == m.Key
	p.HasReaders = h.Orders.Payments.HasReaders()
	return web.WritePage(w, r, status, desk.TillSession(p))
}

// tillEntry returns what notes money of an order in the open session of a member, if the form says that it came into their till, or
// out of it as a refund. Money of a test sale is in no till. A *seats.Conflict if none is open.
func (h *Handlers) tillEntry(r *http.Request, m organizers.Member, o orders.Order, form url.Values, refund bool) (seats.TxHook, error) {
	session, err := h.tillTaking(r, m, o.Currency, form)
	switch {
	case err != nil || session == 0:
		return nil, err
	case refund:
		return till.OfRefund(session, o.Code, form.Get("till")), nil
	}
	return till.OfPayment(session, o.Code, form.Get("till"), ""), nil
}

// tillTaking is the open session of a member in a currency, if the form says that money came into their till, or went out of it; 0 if it does
// not.
func (h *Handlers) tillTaking(r *http.Request, m organizers.Member, currency string, form url.Values) (session int64, err error) {
	method := form.Get("till")
	if method == "" || m.Test {
		return 0, nil
	}
	if method != payments.Cash && method != payments.Terminal {
		return 0, &seats.ValidationError{Message: text.Mark("Choose how it is paid.")}
	}
	list, err := till.Current(r.Context(), h.Organizers, m)
	if err != nil {
		return 0, err
	}
	s, open := till.InCurrency(list, currency)
	if !open {
		return 0, &seats.Conflict{Code: till.CodeClosed, Message: text.Mark("Your till is closed. Nothing was changed. Open it first.")}
	}
	return s.ID, nil
}

type tillDayBody struct {
	Day        string            `json:"day"`
	Currency   string            `json:"currency"`
	Opening    int64             `json:"opening"`
	Expected   int64             `json:"expected"`
	Counted    int64             `json:"counted"`
	Difference int64             `json:"difference"`
	Taken      int64             `json:"taken"`
	Lines      []tillLineBody    `json:"lines"`
	Sessions   []tillSessionBody `json:"sessions"`
}

// TillDay answers GET /desk/till/days/{file}: the reports of the sessions that were closed on a day, as a page, as JSON, or as
// 2030-05-01.csv.
func (h *Handlers) TillDay(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	day, kind, _ := strings.Cut(r.PathValue("file"), ".")
	list, err := till.DayOf(r.Context(), h.Organizers, m, day)
	switch {
	case err != nil:
		return err
	case kind == "csv":
		var sessions []till.Session
		var lines []till.Line
		for _, d := range list {
			sessions, lines = append(sessions, d.Sessions...), append(lines, d.Sum.Lines...)
		}
		return h.tillCSV(w, r, m, "till-"+day, sessions, lines)
	case kind != "":
		return web.ErrNoPage
	case !web.WantsJSON(r):
		p := desk.TillDayPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Till")+" "+day), Day: day, Days: list}
		p.Style = "desk.css till.css"
		return web.WritePage(w, r, http.StatusOK, desk.TillDay(p))
	}
	answer := struct {
		Days []tillDayBody `json:"days"`
	}{[]tillDayBody{}}
	for _, d := range list {
		b := tillDayBody{d.Day, d.Currency, d.Sum.Opening, d.Sum.Expected, d.Sum.Counted, d.Sum.Difference(), d.Sum.Taken, []tillLineBody{}, describeSessions(d.Sessions)}
		for _, l := range d.Sum.Lines {
			b.Lines = append(b.Lines, tillLineBody(l))
		}
		answer.Days = append(answer.Days, b)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// tillCSV writes sessions, a line each, and then what came in and went out.
func (h *Handlers) tillCSV(w http.ResponseWriter, r *http.Request, m organizers.Member, name string, sessions []till.Session, lines []till.Line) error {
	if err := h.Organizers.Record(r.Context(), m, "exported reports of tills", "till", map[string]string{"as": "csv", "name": name}); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	decimals := 2
	rows := [][]any{{"number", "who", "currency", "opened_at", "closed_at", "opening", "expected", "counted", "difference", "taken", "note"}}
	for _, s := range sessions {
		decimals = pricing.Decimals(s.Currency)
		money := func(minor int64) amount { return amount{minor, decimals} }
		closed, expected, taken := any(nil), s.Cash(), s.Turnover()
		if s.Closed() {
			closed, expected, taken = *s.ClosedAt, s.Expected, s.Taken
		}
		row := []any{int(s.Number), s.Who, s.Currency, s.OpenedAt, closed, money(s.Opening), money(expected), nil, nil, money(taken), s.Note}
		if s.Closed() {
			row[7], row[8] = money(s.Counted), money(s.Difference())
		}
		rows = append(rows, row)
	}
	rows = append(rows, []any{"kind", "method", "name", "count", "tickets", "amount"})
	for _, l := range lines {
		rows = append(rows, []any{string(l.Kind), l.Method, l.Name, int(l.Count), int(l.Tickets), amount{l.Amount, decimals}})
	}
	return h.writeSheet(w, r, "csv", time.UTC, func(to sheet) error {
		for _, row := range rows {
			if err := to.row(row...); err != nil {
				return err
			}
		}
		return nil
	})
}
