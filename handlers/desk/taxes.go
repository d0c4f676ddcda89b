package desk

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type taxesAnswer struct {
	Source    string         `json:"source"`
	Date      string         `json:"date"`
	Note      string         `json:"note"`
	VATID     string         `json:"vat_id"`
	Countries []countryRates `json:"countries"`
}

type countryRates struct {
	Country   string     `json:"country"`
	Name      string     `json:"name"`
	Standard  string     `json:"standard"`
	Reduced   []string   `json:"reduced"`
	ByLine    bool       `json:"by_line"`
	ChangedAt *time.Time `json:"changed_at,omitempty"`
}

// Taxes answers GET /desk/taxes
func (h *Handlers) Taxes(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showTaxes(w, r, m, http.StatusOK, nil, "")
}

func (h *Handlers) showTaxes(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, form url.Values, wrong string) (err error) {
	p := desk.TaxesPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Taxes")), Form: form, Wrong: wrong}
	p.Path = desk.TaxesPath
	if p.Rates, err = pricing.RatesOf(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	if p.Sender, err = h.Server.Invoices.Sender(r.Context(), m); err != nil && !errors.Is(err, invoices.ErrNoSender) {
		return err
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, status, desk.Taxes(p))
	}
	answer := taxesAnswer{Source: p.Rates.Source, Date: p.Rates.Date, Note: p.Rates.Note, VATID: p.Sender.VATID, Countries: []countryRates{}}
	for _, c := range p.Rates.Countries {
		body := countryRates{Country: c.Code, Name: c.Name, Standard: pricing.Rate(c.Standard), Reduced: []string{}, ByLine: c.ByLine, ChangedAt: c.ChangedAt}
		for _, rate := range c.Reduced {
			body.Reduced = append(body.Reduced, pricing.Rate(rate))
		}
		answer.Countries = append(answer.Countries, body)
	}
	return web.WriteJSON(w, status, answer)
}

// SetTaxes answers POST /desk/taxes: rates of the countries that are named. A country without a standard rate gets the shipped
// rates again, or none.
func (h *Handlers) SetTaxes(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	rates, err := ratesOf(form)
	if err == nil {
		err = pricing.SetRates(r.Context(), h.Organizers, m, deskKeyOf(r, form), rates)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showTaxes(w, r, m, deskStatus(err), form, words)
	}
	if err != nil {
		return err
	}
	return deskDone(w, r, desk.TaxesPath, "set")
}

// ratesOf reads the rates of the countries that a form names, and of a new one. A country without a standard rate has no name.
func ratesOf(form url.Values) (list []pricing.CountryRate, err error) {
	if code := strings.ToUpper(strings.TrimSpace(form.Get("new.country"))); code != "" {
		for _, what := range []string{"name", "standard", "reduced", "by_line"} {
			form.Set(desk.RateField(code, what), form.Get("new."+what))
		}
	}
	codes := []string{}
	for name := range form {
		if rest, is := strings.CutPrefix(name, "rate."); is {
			code, _, _ := strings.Cut(rest, ".")
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	f := &fieldReader{form: form}
	for _, code := range slices.Compact(codes) {
		c := pricing.CountryRate{Code: code, Name: f.text(desk.RateField(code, "name")), ByLine: f.is(desk.RateField(code, "by_line"))}
		if f.text(desk.RateField(code, "standard")) == "" {
			list = append(list, pricing.CountryRate{Code: code})
			continue
		}
		c.Standard = f.rate(desk.RateField(code, "standard"))
		for rate := range strings.FieldsFuncSeq(f.text(desk.RateField(code, "reduced")), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			c.Reduced = append(c.Reduced, f.rateIn(rate))
		}
		if c.Name == "" {
			c.Name = nameOf(code)
		}
		if wrong := pricing.CheckRate(c); wrong.ID != "" {
			f.fail(wrong)
		}
		list = append(list, c)
	}
	if len(list) > 300 {
		f.fail(text.Say("There are fewer countries than %d.", len(list)))
	}
	return list, f.err
}

// nameOf is the name of a country that is shipped, or its two letters.
func nameOf(code string) string {
	if c, known := pricing.Rates().Country(code); known {
		return c.Name
	}
	return code
}
