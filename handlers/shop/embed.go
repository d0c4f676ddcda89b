package shop

import (
	"context"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// EmbedScript answers GET /embed.js: the element that a team puts on its own site. Its address has no hash, so browsers ask
// for it anew after an hour.
func (h *Handlers) EmbedScript(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(static.Script("embed.js")) // a reader who is gone needs none
	return nil
}

// Embed answers GET /events/{slug}/embed, where a frame with an event begins.
func (h *Handlers) Embed(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	return h.BeginFrame(w, r, s.Event.Team, shop.Sale{Event: s.Event}.Path())
}

// EmbedSeries answers GET /series/{slug}/embed, where a frame with a series begins.
func (h *Handlers) EmbedSeries(w http.ResponseWriter, r *http.Request, s series.Series) error {
	return h.BeginFrame(w, r, s.Team, shop.SeriesPath(s.Slug))
}

// badge is what other sites show of an event: the lowest price, and what is left.
type badge struct {
	Event     string       `json:"event"`
	Name      string       `json:"name"`
	Status    seats.Status `json:"status"`
	Free      int          `json:"free"`
	Price     *int64       `json:"price,omitempty"` // the lowest, with fees and taxes, in minor units; left out: nothing is sold to everyone
	Currency  string       `json:"currency"`
	Available string       `json:"availability"` // in the words of schema.org
	Words     badgeWords   `json:"words"`
}

// badgeWords are for the element of embed.js, in the language of ?lang= or else the event's.
type badgeWords struct {
	Price string `json:"price,omitempty"`
	Left  string `json:"left,omitempty"`
	Open  string `json:"open"`  // on the button that opens the shop
	Title string `json:"title"` // of the frame
	Close string `json:"close"`
	Tab   string `json:"tab"` // of the link to a tab of its own
}

// Badge answers GET /events/{slug}/badge. It is made of memory alone, and the same for every reader.
func (h *Handlers) Badge(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	return web.WriteJSON(w, http.StatusOK, h.badgeOf(badgeLanguage(r, s.Event.Language), s))
}

// seriesBadge is what other sites show of a series: its lowest price, and how many dates are to come.
type seriesBadge struct {
	Series   string     `json:"series"`
	Name     string     `json:"name"`
	Dates    int        `json:"dates"`
	Free     int        `json:"free"`               // in all performances on sale
	Price    *int64     `json:"price,omitempty"`    // as of an event; left out: no performance on sale has seats left for everyone
	Currency string     `json:"currency,omitempty"` // of the price
	Words    badgeWords `json:"words"`
}

// SeriesBadge answers GET /series/{slug}/badge
func (h *Handlers) SeriesBadge(w http.ResponseWriter, r *http.Request, s series.Series) error {
	list, err := h.Programme.OfSeries(r.Context(), s.ID)
	if err != nil {
		return err
	}
	ctx := badgeLanguage(r, s.Language)
	b := seriesBadge{Series: s.Slug, Name: s.Name, Dates: len(list), Words: wordsOf(ctx, s.Name)}
	for _, c := range list {
		if c.Status != seats.OnSale || c.Free == 0 {
			continue
		}
		b.Free += c.Free
		if !c.Private && (b.Price == nil || c.Price < *b.Price) {
			b.Price, b.Currency = &c.Price, c.Currency
		}
	}
	if b.Price != nil {
		b.Words.Price = fromWords(ctx, *b.Price, b.Currency)
	}
	if b.Dates > 0 {
		b.Words.Left = text.N(ctx, "%d date", "%d dates", b.Dates)
	}
	return web.WriteJSON(w, http.StatusOK, b)
}

// fromWords are the words for the lowest price.
func fromWords(ctx context.Context, lowest int64, currency string) string {
	if lowest == 0 {
		return text.T(ctx, "Free")
	}
	return text.T(ctx, "from %s", views.MoneyIn(ctx, lowest, currency))
}

// badgeLanguage is the context of ?lang=, or else of the language of the event: caches keep the answer for all readers.
func badgeLanguage(r *http.Request, language string) context.Context {
	ctx := text.With(r.Context(), text.Source)
	for _, asked := range []string{language, r.URL.Query().Get(views.LanguageParameter)} {
		if tag, is := text.Shipped(asked); is {
			ctx = text.With(ctx, tag)
		}
	}
	return ctx
}

func wordsOf(ctx context.Context, name string) badgeWords {
	return badgeWords{Open: text.T(ctx, "Get tickets"), Title: text.T(ctx, "Tickets: %s", name), Close: text.T(ctx, "Close"), Tab: text.T(ctx, "Open in a new tab")}
}

func (h *Handlers) badgeOf(ctx context.Context, s *seats.Sale) badge {
	sale := shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Prices: s.Prices, Now: h.Hub.Now()}
	sale.Running = s.Prices.Running(sale.Now, sale.Map.Counts.Quota)
	b := badge{Event: s.Event.Slug, Name: s.Event.Name, Status: s.Event.Status, Currency: s.Event.Currency, Free: sale.Map.Counts.Remaining(), Available: availability(sale)}
	b.Words = wordsOf(ctx, s.Event.Name)
	if public(s.Prices) {
		lowest := pricing.Lowest(s.Event, s.Prices, sale.Running.Phase, len(s.Plan.Categories))
		b.Price, b.Words.Price = &lowest, fromWords(ctx, lowest, s.Event.Currency)
	}
	switch {
	case s.Event.Status == seats.Cancelled:
		b.Words.Left = text.T(ctx, "Cancelled")
	case s.Event.Status == seats.Scheduled:
		b.Words.Left = text.T(ctx, "Not on sale yet")
	case s.Event.Status != seats.OnSale:
		b.Words.Left = text.T(ctx, "Not on sale")
	case b.Free == 0:
		b.Words.Left = text.T(ctx, "Sold out")
	default:
		b.Words.Left = text.N(ctx, "%d left", "%d left", b.Free)
	}
	return b
}
