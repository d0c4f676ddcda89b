package shop

import (
	"net/http"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views/shop"
)

// askedEntry is what forms and programs say of an entry.
type askedEntry struct {
	Email      string   `json:"email"`
	Quantity   int      `json:"quantity"`
	Sections   []string `json:"sections"`   // names
	Categories []string `json:"categories"` // keys
	Together   bool     `json:"together"`
	Fewer      bool     `json:"fewer"`
	Until      string   `json:"until"`  // a day at the event's place, 2006-01-02
	Method     string   `json:"method"` // order at once, paid so; empty: they are asked
	Name       string   `json:"name"`   // for that order
	Most       int64    `json:"most"`   // that it may cost, minor units
	Terms      int      `json:"terms"`  // the version of the terms that they accept for it; 0: none
	Key        string   `json:"key"`
}

// decodeEntry reads an entry, and what the form shows again if it is wrong.
func (h *Handlers) decodeEntry(r *http.Request, s *seats.Sale) (w waitlist.NewEntry, typed shop.EntryForm, err error) {
	var asked askedEntry
	if web.IsForm(r) {
		typed, err = formEntry(r)
	} else {
		if err = web.DecodeBody(r, &asked); err == nil {
			typed, err = asked.typed(s)
		}
	}
	if err != nil {
		return w, typed, err
	}
	w = waitlist.NewEntry{Email: typed.Email, Wanted: waitlist.Wanted{
		Quantity: typed.Quantity, Sections: typed.Sections, Categories: typed.Categories, Together: typed.Together, Fewer: typed.Fewer,
	}}
	w.Wrong = waitlist.Mistakes{}
	if w.Consent, err = h.consentOf(r, s, typed, w.Wrong); err != nil {
		return w, typed, err
	}
	if typed.Until != "" {
		day, err := time.ParseInLocation(time.DateOnly, typed.Until, s.Event.Local(time.Time{}).Location())
		if end := day.AddDate(0, 0, 1); err == nil { // the whole day
			w.Until = &end
		} else {
			w.Wrong[waitlist.FieldUntil] = text.Mark("Enter a date such as 2030-12-31.")
		}
	}
	return w, typed, nil
}

func formEntry(r *http.Request) (l shop.EntryForm, err error) {
	if err := web.ParseForm(r); err != nil {
		return l, err
	}
	f := r.PostForm
	l = shop.EntryForm{Email: f.Get("email"), Together: f.Get("together") != "", Fewer: f.Get("fewer") != "", Until: f.Get("until"), Method: f.Get("method"), Name: f.Get("name"), Most: f.Get("most")}
	l.Quantity, _ = strconv.Atoi(f.Get("quantity")) // what is no number is none that one can ask for
	l.Terms, _ = strconv.Atoi(f.Get("terms"))       // what is no number accepts none
	for field, list := range map[string]*[]int{"section": &l.Sections, "category": &l.Categories} {
		for _, number := range f[field] {
			i, err := strconv.Atoi(number)
			if err != nil {
				return l, waitlist.Mistakes{waitlist.FieldWhere: text.Mark("This event has no such section.")}
			}
			*list = append(*list, i)
		}
	}
	return l, nil
}

func (a askedEntry) typed(s *seats.Sale) (shop.EntryForm, error) {
	l := shop.EntryForm{Email: a.Email, Quantity: a.Quantity, Together: a.Together, Fewer: a.Fewer, Until: a.Until, Method: a.Method, Name: a.Name, Most: pricing.Amount(a.Most, s.Event.Currency), Terms: a.Terms}
	for _, name := range a.Sections {
		l.Sections = append(l.Sections, s.Plan.SectionNamed(name)) // -1 is found to be wrong
	}
	for _, key := range a.Categories {
		l.Categories = append(l.Categories, s.Plan.CategoryKeyed(key))
	}
	return l, nil
}
