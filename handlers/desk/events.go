package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// teamPlan begins the name of a plan of the team; its number follows.
const teamPlan = "team-"

// NewEvent answers GET /desk/events/new
func (h *Handlers) NewEvent(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f := desk.NewEventForm{Zone: "Europe/Vienna", Starts: time.Now().AddDate(0, 0, 28).Format("2006-01-02") + "T20:00", Plan: "theatre"}
	latest, ok, err := h.Overview.Latest(r.Context(), m)
	if err != nil {
		return err
	}
	if ok {
		f.Zone, f.Venue = latest.TimeZone, latest.Venue
	}
	return h.showNewEvent(w, r, m, http.StatusOK, desk.NewEventPage{Form: f})
}

func (h *Handlers) showNewEvent(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.NewEventPage) error {
	p.Frame, p.Key = h.frame(w, r, m, text.T(r.Context(), "New event")), seats.NewID().String()
	for _, s := range plan.Summaries() {
		p.Plans = append(p.Plans, desk.PlanChoice{Name: s.Name, Title: text.T(r.Context(), s.Title), Seats: s.Seats})
	}
	own, err := h.Organizers.Plans(r.Context(), m)
	if err != nil {
		return err
	}
	for _, o := range own {
		p.Own = append(p.Own, desk.PlanChoice{Name: teamPlan + strconv.FormatInt(o.ID, 10), Title: o.Name, Seats: o.Seats})
	}
	return web.WritePage(w, r, status, desk.NewEvent(p))
}

// CreateEvent answers POST /desk/events makes a draft with sensible defaults; the page of its settings is the next step.
func (h *Handlers) CreateEvent(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	page, drawn, key, err := decodeNewEvent(r)
	if err != nil {
		return err
	}
	n, p, wrong, err := h.newEvent(r, m, page.Form, drawn)
	if err != nil {
		return err
	}
	if page.Wrong = wrong; len(wrong) > 0 {
		if web.WantsJSON(r) {
			return wrongFields(wrong)
		}
		return h.showNewEvent(w, r, m, http.StatusUnprocessableEntity, page)
	}
	n.Team, n.Status = m.Team, seats.Draft
	slug, err := h.createOnce(r, m, key, n, p, text.Mark("created the event"))
	if err != nil {
		return err
	}
	return h.createdEvent(w, r, slug, "created")
}

func (h *Handlers) createdEvent(w http.ResponseWriter, r *http.Request, slug, what string) error {
	s, err := h.Inventory.Sale(r.Context(), slug)
	if err != nil {
		return err
	}
	return deskWith(w, r, desk.ChecklistPath(slug), what, http.StatusCreated, settingsAnswer(s))
}

// createOnce makes an event under the first address of its name that is not taken; a repeat of the form finds the one it made.
func (h *Handlers) createOnce(r *http.Request, m organizers.Member, key string, n events.Settings, p *seats.Plan, what string) (slug string, err error) {
	if key == "" {
		return "", idempotency.ErrNoKey
	}
	base := events.Slug(n.Name, "event")
	if base == "new" { // the address of the form that makes one
		base = "event-new"
	}
	return h.Organizers.Create(r.Context(), m, key, what, n, base, func(slug string, also seats.TxHook) error {
		n.Slug = slug
		_, err := events.Create(r.Context(), h.Inventory, n, p, also)
		return err
	})
}

func decodeNewEvent(r *http.Request) (page desk.NewEventPage, drawn file, key string, err error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		defer web.RemoveFiles(r)
		if err := r.ParseMultipartForm(web.BodyLimit); err != nil {
			return page, drawn, "", web.TooLargeOr(err, text.Mark("The form cannot be read: its file is broken or too large."))
		}
		r.PostForm = r.MultipartForm.Value
		if drawn, err = fileOf(r.MultipartForm, "file"); err != nil {
			return page, drawn, "", err
		}
		f := r.PostForm
		page.Form = desk.NewEventForm{Name: f.Get("name"), Venue: f.Get("venue"), Starts: f.Get("starts"), Zone: f.Get("zone"), Plan: f.Get("plan")}
		return page, drawn, deskKeyOf(r, f), nil
	}
	f, err := deskForm(r)
	if err != nil {
		return page, drawn, "", err
	}
	page.Form = desk.NewEventForm{Name: f.Get("name"), Venue: f.Get("venue"), Starts: f.Get("starts"), Zone: f.Get("zone"), Plan: f.Get("plan")}
	return page, drawn, deskKeyOf(r, f), nil
}

// newEvent understands the first step: what it is, where and when, and its plan.
func (h *Handlers) newEvent(r *http.Request, m organizers.Member, f desk.NewEventForm, drawn file) (n events.Settings, p *seats.Plan, wrong desk.Wrong, err error) {
	full := desk.SettingsForm{
		Name: f.Name, Venue: f.Venue, Starts: f.Starts, Zone: f.Zone, Currency: "EUR", Hold: "8", PayWithin: "15", Limit: "6", Extensions: "10",
	}
	n, _, wrong = understood(r.Context(), full, nil)
	if drawn.content != nil {
		if wrongly := misnamed(drawn.name, drawn.content, desk.PlanFiles); wrongly != nil {
			wrong["plan"] = text.T(r.Context(), wrongly.Message, wrongly.Args...)
			return n, nil, wrong, nil
		}
		found, err := plan.Take(drawn.content, f.Name, nil)
		if err != nil {
			wrong["plan"] = text.T(r.Context(), "The file is no plan that can be read: %s", plan.Refused(err))
			return n, nil, wrong, nil
		}
		if len(found.Plan.Seats) == 0 {
			wrong["plan"] = text.T(r.Context(), events.NoSeats)
		}
		return n, found.Plan, wrong, nil
	}
	if number, own := strings.CutPrefix(f.Plan, teamPlan); own {
		id, _ := strconv.ParseInt(number, 10, 64) // no plan is number 0
		p, err = h.Organizers.Plan(r.Context(), m, id, 0)
		if err == nil && len(p.Seats) == 0 {
			wrong["plan"] = text.T(r.Context(), events.NoSeats)
		}
		if !errors.Is(err, organizers.ErrNotYours) {
			return n, p, wrong, err
		}
	}
	p, ok := plan.NamedIn(r.Context(), f.Plan)
	if !ok {
		wrong["plan"] = text.T(r.Context(), "Choose a plan, or the file of one.")
	}
	return n, p, wrong, nil
}

// CopyEvent answers POST /desk/events/{slug}/copies: it makes a draft with the plan, page, settings, limits, prices, automatic messages and
// shares of the event.
func (h *Handlers) CopyEvent(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if s.Event.TestOf != 0 {
		return errTestSale
	}
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	n := events.Of(s.Event)
	n.Status, n.Slug, n.Team = seats.Draft, "", m.Team
	if name := strings.Join(strings.Fields(form.Get("name")), " "); name != "" {
		n.Name = name
	}
	if starts := form.Get("starts"); starts != "" {
		if n.StartsAt, err = momentOf(starts, s.Event.Local(s.Event.StartsAt).Location()); err != nil {
			return h.refuseCopy(w, r, m, s, form, text.T(r.Context(), "Enter when it begins, such as 2030-03-01 20:00."))
		}
	}
	if n.Name == s.Event.Name && n.StartsAt.Equal(s.Event.StartsAt) {
		return h.refuseCopy(w, r, m, s, form, text.T(r.Context(), "The copy would have the name and the time of this event. Enter another date, or another name."))
	}
	slug, err := h.createOnce(r, m, deskKeyOf(r, form), n, s.Plan, text.Mark("copied an event to"))
	if err != nil {
		return err
	}
	made, err := h.Inventory.Sale(r.Context(), slug)
	if err != nil {
		return err
	}
	if err := h.Limits.Copy(r.Context(), s.Event.ID, made.Event.ID); err != nil {
		return err
	}
	if err := h.Pages.CopyEvent(r.Context(), m, s.Event.ID, made.Event.ID); err != nil {
		return err
	}
	if err := h.Automatic.Copy(r.Context(), m, s.Event.ID, made.Event.ID); err != nil {
		return err
	}
	if err := h.Server.Books.CopyShares(r.Context(), m, s.Event.ID, made.Event.ID); err != nil {
		return err
	}
	if made.Event.Status == seats.Draft && made.Prices.Version == 0 { // else a repeat came late
		if _, err := events.EditPrices(r.Context(), h.Inventory, slug, events.PriceEdit{List: s.Prices.WithoutPhases(), Rules: &s.Event.Rules}, nil); err != nil {
			return err
		}
	}
	return h.createdEvent(w, r, slug, "copied")
}

// refuseCopy says why an event is not copied as asked; what was typed stays.
func (h *Handlers) refuseCopy(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, form url.Values, words string) error {
	page := desk.SettingsPage{Form: formOf(s), Copy: desk.CopyForm{Name: form.Get("name"), Starts: form.Get("starts"), Wrong: desk.Wrong{"starts": words}}}
	if web.WantsJSON(r) {
		return wrongFields(page.Copy.Wrong)
	}
	return h.showSettings(w, r, m, s, http.StatusUnprocessableEntity, page)
}

// steps are what the log says of each status that an event is given.
var steps = map[seats.Status]string{
	seats.Draft: text.Mark("made the event a draft"), seats.Scheduled: text.Mark("scheduled the event"), seats.OnSale: text.Mark("put the event on sale"),
	seats.Paused: text.Mark("paused the event"), seats.Closed: text.Mark("closed the event"), seats.Cancelled: text.Mark("cancelled the event"),
}

// SetStatus answers POST /desk/events/{slug}/status
func (h *Handlers) SetStatus(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	to := events.Change{Status: seats.Status(form.Get("status")), Reason: form.Get("reason")}
	page := desk.SettingsPage{Form: formOf(s), Reason: to.Reason}
	if opens := form.Get("opens"); to.Status == seats.Scheduled || to.Status == seats.OnSale && opens != "" && form.Get("now") == "" {
		to.Status = seats.Scheduled
		if to.OpensAt, err = momentOf(opens, s.Event.Local(s.Event.StartsAt).Location()); err != nil {
			page.Wrong = desk.Wrong{"opens": text.T(r.Context(), "Enter when the sale begins, such as 2030-03-01 10:00.")}
			if web.WantsJSON(r) {
				return wrongFields(page.Wrong)
			}
			return h.showSettings(w, r, m, s, http.StatusUnprocessableEntity, page)
		}
	}
	detail := map[string]any{"reason": to.Reason, "opens_at": form.Get("opens")}
	if startsSale(s.Event, to.Status) {
		facts, err := h.factsOf(r.Context(), s)
		if err != nil {
			return err
		}
		switch missing := events.Missing(events.Readiness(facts)); {
		case len(missing) == 0:
		case form.Get("anyway") != "":
			detail["without"] = missing
		case web.WantsJSON(r):
			return h.problemOf(w, r, s, notReady(r.Context(), missing))
		default:
			return h.showChecklist(w, r, m, s, http.StatusConflict, desk.ChecklistPage{Facts: facts, Asked: true, Opens: form.Get("opens")})
		}
	}
	act := organizers.Action{
		Key: deskKeyOf(r, form), Form: []any{"status", s.Event.Slug, to}, What: steps[to.Status], Subject: "events/" + s.Event.Slug, Detail: detail,
	}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		if to.Status == seats.Cancelled {
			also = seats.Both(also, h.Orders.CancelAll(s.Event.ID))
		}
		_, err := events.SetStatus(r.Context(), h.Inventory, s.Event.Slug, to, also)
		h.Orders.WakeBulkJobs()
		h.TestSales.Job().Wake()
		return err
	})
	if words, refused := deskRefused(r, err); refused {
		page.Message = words
		return h.showSettings(w, r, m, s, deskStatus(err), page)
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if s, err = h.Inventory.Sale(r.Context(), s.Event.Slug); err != nil {
		return err
	}
	return deskWith(w, r, desk.SettingsPath(s.Event.Slug), "status", http.StatusOK, settingsAnswer(s))
}

// Preview answers GET /desk/events/{slug}/preview shows the event as attendees will see it when it is on sale. With ?map it is
// the page with the seats.
func (h *Handlers) Preview(w http.ResponseWriter, r *http.Request, _ organizers.Member, s *seats.Sale) error {
	page := views.Page{Title: text.T(r.Context(), "Preview") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team)}
	sale := shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: seats.NewID().String()}
	about, err := h.Pages.OfEvent(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if sale.About = about; about != nil && !r.URL.Query().Has("map") {
		return web.WritePage(w, r, http.StatusOK, desk.PreviewAbout(shop.AboutPage{Page: page, Sale: sale, Preview: true}))
	}
	sale = sale.OnFloor(r.URL.Path+"?map", r.URL.Query())
	return web.WritePage(w, r, http.StatusOK, desk.Preview(shop.EventPage{Page: page, Sale: sale}))
}
