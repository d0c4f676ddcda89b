package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// keyed is a form of the desk with a key of its own.
func keyed(pairs ...string) url.Values {
	form := url.Values{"key": {seats.NewID().String()}}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return form
}

func TestDesk_NamesDevicesAndClosesOneAlone(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Gates: []seats.Gate{{Name: "North"}, {Name: "South"}}, Reentry: true})
	owner, at := s.owner(t), "/desk/events/evening/doors"
	_, order := s.bought(t, person(t), 2)
	links := map[string]string{}
	for _, name := range []string{"Anna’s phone", "Ben"} {
		made, page := s.submit(t, owner, at, keyed("name", name, "gate", "North"))
		link := regexp.MustCompile(`href="(http[^"]*/door/[0-9A-Z]+)"`).FindStringSubmatch(page)
		if made.StatusCode != http.StatusCreated || link == nil || !strings.Contains(page, name) || !strings.Contains(page, "Gate North") {
			t.Fatalf("%d, the link is %q", made.StatusCode, link)
		}
		links[name] = link[1]
	}
	for field, value := range map[string]string{"gate": "West", "name": strings.Repeat("x", 61)} {
		if a, page := s.submit(t, owner, at, keyed(field, value)); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "No link was made.") {
			t.Errorf("a wrong %s got %d", field, a.StatusCode)
		}
	}
	scan := func(link, key, way string) string {
		a, page := send(t, person(t), "POST", link+"/scans", url.Values{"key": {key}, "code": {order.Tickets[0].Code}, "way": {way}}.Encode(), "Content-Type", asForm, "Accept", asPage)
		return fmt.Sprint(a.StatusCode, page)
	}
	for i, step := range []struct{ name, way, says string }{
		{"Anna’s phone", "", "Let them in."}, {"Ben", "in", " by Anna’s phone."}, {"Ben", "out", "Let them out."}, {"Ben", "in", "Let them in."}, {"Ben", "sideways", "422"},
	} {
		if said := scan(links[step.name], fmt.Sprint(i), step.way); !strings.Contains(said, step.says) {
			t.Errorf("scan %d does not say %q", i, step.says)
		}
	}
	var found struct {
		Came, Inside int
		Devices      []struct {
			ID    int64
			Name  string
			Scans int
		}
	}
	_, body := send(t, owner, "GET", s.url+at, "")
	if err := json.Unmarshal([]byte(body), &found); err != nil || found.Came != 1 || found.Inside != 1 || len(found.Devices) != 2 || found.Devices[1].Scans != 1 || found.Devices[0].Scans != 3 {
		t.Fatalf("the desk says %s, %v", body, err)
	}
	if _, page := s.page(t, owner, "/desk/events/evening/orders/"+order.Code); !strings.Contains(page, "Let in · Anna’s phone") || !strings.Contains(page, "Went out · Ben") {
		t.Error("the order does not say by which device its tickets came in")
	}
	s.does(t, owner, fmt.Sprintf("%s/%d/closing", at, found.Devices[1].ID), keyed())
	if said := scan(links["Anna’s phone"], "late", "in"); !strings.HasPrefix(said, "404") {
		t.Error("a closed link opens the door")
	}
	if said := scan(links["Ben"], "later", "in"); !strings.HasPrefix(said, "200") || s.audited(t, "closed one link to the door") != 1 {
		t.Error("the other link was closed, too, or it is not in the log")
	}
}

func TestSettings_GatesAreForSectionsOfThePlan(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, at := s.owner(t), s.url+"/desk/events/evening/settings"
	section := s.sale.Plan.Sections[0].Name
	for gates, says := range map[string]string{
		"North: Nowhere":        "which this plan does not have",
		": " + section:          "does not begin with the name of a gate",
		"North\nnorth":          "Two gates have the same name",
		strings.Repeat("x", 61): "does not begin with the name of a gate",
	} {
		body, _ := json.Marshal(map[string]any{"key": seats.NewID().String(), "gates": gates})
		if a, said := send(t, owner, "POST", at, string(body)); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(said, says) {
			t.Errorf("%q got %d: %s", gates, a.StatusCode, said)
		}
	}
	body, _ := json.Marshal(map[string]any{"key": seats.NewID().String(), "gates": "North: " + section + "\n\nSouth", "reentry": true})
	a, said := send(t, owner, "POST", at, string(body))
	if a.StatusCode != http.StatusOK || !strings.Contains(said, `"gates":["North: `+section+`","South"],"reentry":true`) {
		t.Fatalf("%d: %s", a.StatusCode, said)
	}
	if a, said = send(t, owner, "POST", at, `{"key":"`+seats.NewID().String()+`","name":"Other"}`); !strings.Contains(said, `"South"],"reentry":true`) {
		t.Errorf("a change of the name took them: %d %s", a.StatusCode, said)
	}
}

func TestTicket_SaysItsGateIfItMayNotUseAll(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner := s.owner(t)
	_, order := s.bought(t, person(t), 1)
	p := s.sale.Plan
	at := slices.IndexFunc(p.Seats, func(seat seats.Seat) bool {
		return strings.HasPrefix(order.Tickets[0].Seat, p.Sections[seat.Section].Name+"/")
	})
	mine := p.Seats[at].Section
	section, other := p.Sections[mine].Name, p.Sections[(mine+1)%len(p.Sections)].Name
	for gates, says := range map[string]bool{"North: " + section + "\nSouth: " + other: true, "North\nSouth": false, "North": false} {
		body, _ := json.Marshal(map[string]any{"key": seats.NewID().String(), "gates": gates})
		if a, said := send(t, owner, "POST", s.url+"/desk/events/evening/settings", string(body)); a.StatusCode != http.StatusOK {
			t.Fatalf("%d: %s", a.StatusCode, said)
		}
		if _, page := s.page(t, person(t), "/orders/"+order.Code); strings.Contains(page, "Gate North") != says {
			t.Errorf("with the gates %q, the ticket says its gate: %v", gates, !says)
		}
	}
}
