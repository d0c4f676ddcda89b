package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// atLive is a live desk on which everything is to be seen; every text that comes from people is this one.
func atLive(page views.Page, s shop.Sale, text string) desk.Live {
	k := len(s.Plan.Categories)
	s.Map.Counts = seats.Counts{Free: make([]int, k), Held: make([]int, k), Sold: make([]int, k), Blocked: make([]int, k)}
	l := sales.Live{Figures: sales.Figures{
		At: noon, Counts: s.Map.Counts, Free: 90, Held: 7, Sold: 3, Blocked: 2, Holding: 4, Paying: 1, Paid: 5,
		Total:     sales.Sums{Sold: 3, Revenue: 12_345_678, Orders: 2, Begun: 9, Ordered: 2, Expired: 1, GivenBack: 2},
		SalesRate: 12, SalesRateSlow: 10, RevenueRate: 4000, SellOut: &sales.Range{From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)},
		Conversion: sales.Rate{Some: 8, Of: 12}, Expired: sales.Rate{Some: 2, Of: 12},
	}, Span: sales.Minute, Inside: 3}
	l.Rows = []sales.Row{{At: noon.Add(-20 * time.Minute), Free: 95, Held: 2, Sold: 1}, {At: noon.Add(-2 * time.Minute), Free: 90, Held: 7, Sold: 3, Sums: sales.Sums{Sold: 2, Revenue: 900}}}
	l.Hour = l.Rows
	l.Latest = []sales.Ordered{{Code: text, At: noon, Total: 500, Method: "card", State: "confirmed", Name: text, Email: text, Seats: []int{0, 1}}, {Code: text, At: noon, State: "cancelled"}}
	for _, kind := range []string{payments.AlertPayment, payments.AlertStep, payments.AlertPayout, payments.AlertDeposit, sales.OfHook, sales.OfFailing, sales.OfExpired} {
		l.Alerts = append(l.Alerts, sales.Alert{Kind: kind, Key: kind + text, Order: text, Amount: 100, Why: text, At: noon, Rate: sales.Rate{Some: 3, Of: 9}})
	}
	l.MoreAlerts = true
	l.Seen = map[string]sales.Seen{payments.AlertPayout + text: {Who: text, At: noon}}
	l.Acts = []sales.Act{{At: noon.Add(-time.Minute), What: text, Detail: text, Who: text}}
	l.Waits = sales.Waits{Ever: true, Paused: true, Waiting: 1234, Open: 2, Accepted: 3, Ended: 4}
	room := waitingroom.State{Slug: "line", Phase: waitingroom.PhasePaused, Note: text, Slots: 9, Rate: 2, Version: 3, Pace: waitingroom.Pace{Show: 0.62}}
	shown := waitingroom.Published{Lobby: 5, Line: 6, Serving: 4}
	page.Script, page.Style = "desk.js", "desk.css desk_live.css"
	return desk.Live{
		Frame: desk.Frame{Page: page, Member: organizers.Member{Name: text, TeamName: text, Role: organizers.Owner}, Path: "/desk/events/evening", Event: &s.Event},
		Sale:  s, Live: l, Window: sales.All, Names: true, MayNames: true, MaySee: true, MayManage: true, Room: &room, Shown: &shown, Told: waitingroom.Calibration{Said: 120, Right: 114}, Key: text,
	}
}

func TestTheDeskTellsHowManyComeAndHowRightWaitsWere(t *testing.T) {
	t.Parallel()
	p := atLive(views.Page{Title: "Evening"}, sale(t, "theatre", nil), "Ann")
	text := render(t, desk.Event(p))
	for _, want := range []string{"<dt>Waiting</dt><dd>7</dd>", "<dt>Come when called</dt><dd>62%</dd>", "<dt>Called when they were told</dt><dd>95% of 120</dd>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the desk lacks %s: %s", want, text)
		}
	}
	p.Room, p.Told = &waitingroom.State{}, waitingroom.Calibration{}
	if text := render(t, desk.Event(p)); strings.Count(text, "not known yet") != 2 {
		t.Errorf("the desk shows what cannot be known: %s", text)
	}
}

// liveDesks is the live desk in its states.
func liveDesks(t *testing.T, page views.Page) (list []shown) {
	t.Helper()
	for _, name := range []string{"theatre", "conference"} {
		busy := atLive(page, sale(t, name, nil), "Ann")
		quiet := busy
		quiet.Live, quiet.Room, quiet.Shown = sales.Live{Figures: sales.Figures{At: noon, Counts: busy.Live.Counts, Free: 9}}, nil, nil
		wall := busy
		wall.Wall = true
		list = append(list, shown{"the live desk of a " + name, true, desk.Event(busy)}, shown{"a quiet desk of a " + name, true, desk.Event(quiet)}, shown{"the wall of a " + name, true, desk.Event(wall)})
	}
	return list
}

func TestTheLiveDeskSaysWhatItKnowsAndNothingItDoesNot(t *testing.T) {
	t.Parallel()
	page := render(t, desk.Event(atLive(views.Page{Nonce: "x"}, sale(t, "theatre", nil), "Ann")))
	for _, want := range []string{
		`<strong>€123,456.78<`, `+€40 a minute`, `data-sold>3<`, `of 100<`, `15:00–16:00`, `67%`, `Pay out €1`, `Seen by Ann`, `Payments fail: 33%`,
		`Everybody reads: “Ann”`, `4 inside now`[1:], `<dd>1,234</dd>`, `75% of 4`, `7 waiting now`, `value="120"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the desk lacks %s", want)
		}
	}
	quiet := atLive(views.Page{Nonce: "x"}, sale(t, "theatre", nil), "Ann")
	quiet.Live = sales.Live{Figures: sales.Figures{At: noon, Counts: quiet.Live.Counts, Free: 9}}
	quiet.MayManage, quiet.MayNames, quiet.MaySee = false, false, false
	page = render(t, desk.Event(quiet))
	for _, never := range []string{"NaN", "Inf", "%!", "Pause, and say why", "Show names", "/seen", "At this pace</span>"} {
		if strings.Contains(page, never) {
			t.Errorf("a quiet desk of a viewer has %q", never)
		}
	}
}

func TestADeskThatShowsSomeConcernsSaysThatThereAreMore(t *testing.T) {
	t.Parallel()
	p := atLive(views.Page{}, sale(t, "club", nil), "Ann")
	for _, more := range []bool{true, false} {
		p.Live.MoreAlerts = more
		if said := strings.Contains(render(t, desk.Event(p)), "the latest 20 of each kind, and there are more"); said != more {
			t.Errorf("there are more: %t; the page says so: %t", more, said)
		}
	}
}
