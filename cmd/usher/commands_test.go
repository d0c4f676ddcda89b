package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A deskPlace is where the desk does what a command does to an event: the page with the form, and the address that the form and programs
// send to. fields has the field of each flag; "POST address field" where it is at another address.
type deskPlace struct {
	page, address string
	fields        map[string]string
}

const settingsAddress = "/desk/events/{slug}/settings"

// atDesk is the place of each command that changes an event.
var atDesk = map[string]deskPlace{
	"event create": {"/desk/events/new", "/desk/events", map[string]string{
		"plan": "plan", "name": "name", "venue": "venue", "starts": "starts", "time-zone": "zone",
		"promoter": settingsAddress + " promoter", "language": settingsAddress + " language", "currency": settingsAddress + " currency", "hold": settingsAddress + " hold", "limit": settingsAddress + " limit",
		"extensions": settingsAddress + " extensions", "strict": settingsAddress + " strict", "no-orphan-seats": settingsAddress + " no_lone", "ask-birth": settingsAddress + " birth", "ask": settingsAddress + " questions",
		"ticket-names": settingsAddress + " ticket_names", "gate": settingsAddress + " gates", "reentry": settingsAddress + " reentry", "rotating-codes": settingsAddress + " rotating_codes",
		"online": settingsAddress + " online", "join-link": settingsAddress + " join_link", "join-early": settingsAddress + " join_early", "confirmation": settingsAddress + " confirmation",
		"draft": "/desk/events/{slug}/status status", "opens": "/desk/events/{slug}/status opens", "paid-ahead": settingsAddress + " door", "pay-later": settingsAddress + " pay_later", "pay-before": settingsAddress + " pay_before",
		"confirm-email": settingsAddress + " confirm_email", "cancel-until": settingsAddress + " cancel_until", "cancel-fee": settingsAddress + " cancel_fee", "exchange-until": settingsAddress + " exchange_until",
		"exchange-fee": settingsAddress + " exchange_fee", "transfer-until": settingsAddress + " transfer_until", "resale-until": settingsAddress + " resale_until", "resale-fee": settingsAddress + " resale_fee",
		"change-types-until": settingsAddress + " types_until", "demo-card": settingsAddress + " demo", "invoices": settingsAddress + " invoices", "pay-within": settingsAddress + " pay_within",
		"price": settingsAddress + " price", "fee": settingsAddress + " fee_ticket", "keep-fees": settingsAddress + " fee_kept", "absorb-fees": settingsAddress + " fee_absorbed",
	}},
	"room create": {"/desk/events/{slug}/room", "/desk/events/{slug}/room", map[string]string{
		"name": "name", "events": "events", "opens": "opens", "lobby": "lobby", "slots": "slots", "rate": "rate", "entry": "entry", "work": "work", "beacon": "beacon", "valid": "valid", "idle": "idle", "stay": "stay",
	}},
	"room set": {"/desk/events/{slug}/room", "/desk/events/{slug}/room", map[string]string{
		"opens": "opens", "pause": "do", "resume": "do", "end": "do", "reason": "reason", "rate": "rate", "slots": "slots", "work": "work", "beacon": "words",
	}},
	"room invite": {"/desk/events/{slug}/room", "/desk/events/{slug}/room", map[string]string{"file": "emails", "again": "again"}},
}

// notAtDesk is why a flag of such a command has no field.
var notAtDesk = map[string]string{
	"event create slug": "the desk makes it from the name", "room create slug": "the desk makes it from the name",
	"room create beacon-url": "the server asks that address, so the operator names it",
}

// ofDatabase are the flags that say where the box office is.
var ofDatabase = []string{"help", "database-url", "database-direct-url", "database-plaintext", "house", "secret-key", "data"}

// ofOperator is why a command is for the operator of a box office alone.
var ofOperator = map[string]string{
	"serve": "it is the box office", "event list": "it lists the events of all teams", "plan import": "it reads a file, and changes nothing", "room export": "it reads",
	"attention": "it lists what failed in all teams", "voucher create": "credit is spent at all teams", "keys": "they sign the tickets of all teams", "secrets key": "it is outside the database",
	"organizer link": "it makes the first owner", "organizer list": "it lists all teams", "organizer password": "it is for who cannot sign in", "organizer signout": "it is for who lost an account",
	"healthcheck": "it asks the box office", "verify": "it reads all teams", "draw verify": "it reads a file", "rush": "it sends a crowd", "arena": "it is a box office of its own", "rehearse": "the desk starts it, by its own form", "backup": "it has all teams", "restore": "it has all teams", "migrate": "it changes the schema", "audit": "it reads what a house publishes, from outside",
}

// A desk is what its sources say of it.
type deskSources struct{ described, routes, forms string }

func readDesk(t *testing.T) (d deskSources) {
	t.Helper()
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	d.described, d.routes = read("handlers/openapi.yaml"), read("handlers/routes.go")
	for _, pattern := range []string{"*.templ", "*.go"} {
		files, err := filepath.Glob("../../views/desk/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_templ.go") {
				d.forms += read("views/desk/" + filepath.Base(file))
			}
		}
	}
	return d
}

// section is what stands below a line of a text with an indent, until the next line with that indent; empty if there is no such line.
func section(text, line, indent string) string {
	_, after, found := strings.Cut("\n"+text, "\n"+indent+line+"\n")
	if !found {
		return ""
	}
	var in strings.Builder
	for each := range strings.Lines(after) {
		if !strings.HasPrefix(each, indent+" ") {
			break
		}
		in.WriteString(each)
	}
	return in.String()
}

// wrongPlace says what is wrong with a field of a place: no changing method of the API takes it, or no form of the desk sends it.
func (d deskSources) wrongPlace(address, field string) string {
	post := section(section(d.described, address+":", "  "), "post:", "    ")
	switch {
	case post == "":
		return "openapi.yaml has no POST " + address
	case !strings.Contains(d.routes, `{"POST `+address+`",`):
		return "there is no route POST " + address
	case field != "" && !strings.Contains(post, " "+field+": {") && !strings.Contains(post, "{"+field+": {"):
		return "POST " + address + " takes no " + field + " in openapi.yaml"
	case field != "" && !strings.Contains(d.forms, `"`+field+`"`):
		return "no form of the desk has the field " + field
	}
	return ""
}

func TestCommand_ThatChangesAnEventHasItsPlaceAtTheDesk(t *testing.T) {
	t.Parallel()
	d := readDesk(t)
	left := map[string]bool{}
	for name := range atDesk {
		left[name] = true
	}
	for name := range ofOperator {
		left[name] = true
	}
	for name := range notAtDesk {
		left[name] = true
	}
	for _, node := range newParser(&commands{}, &shell{}).Model.Leaves(true) {
		name := strings.TrimPrefix(node.FullPath(), "usher ")
		delete(left, name)
		place, there := atDesk[name]
		switch {
		case there && ofOperator[name] != "":
			t.Errorf("%q is in both lists", name)
		case !there && ofOperator[name] == "":
			t.Errorf("say where the desk does what %q does, or why it does not", name)
		case there:
			if wrong := d.wrongPlace(place.address, ""); wrong != "" {
				t.Errorf("%q: %s", name, wrong)
			}
			if !strings.Contains(d.routes, `{"GET `+place.page+`",`) {
				t.Errorf("%q: there is no page %s", name, place.page)
			}
			for _, flag := range node.Flags {
				address, field := place.address, place.fields[flag.Name]
				if at, other, elsewhere := strings.Cut(field, " "); elsewhere {
					address, field = at, other
				}
				delete(left, name+" "+flag.Name)
				switch why := notAtDesk[name+" "+flag.Name]; {
				case slices.Contains(ofDatabase, flag.Name) || why != "" && field == "":
				case field == "" || why != "":
					t.Errorf("say which field --%s of %q is at the desk, or why it has none", flag.Name, name)
				default:
					if wrong := d.wrongPlace(address, field); wrong != "" {
						t.Errorf("--%s of %q: %s", flag.Name, name, wrong)
					}
				}
			}
		}
	}
	for name := range left {
		t.Errorf("there is no command or flag %q", name)
	}
}

func TestCommand_PlaceThatOnlyReadsIsNoticed(t *testing.T) {
	t.Parallel()
	d := readDesk(t)
	for address, field := range map[string]string{"/desk/events/{slug}/comparison": "", "/desk/nothing": "", "/desk/events": "novelty"} {
		if d.wrongPlace(address, field) == "" {
			t.Errorf("%s with the field %q passes for a place that changes an event", address, field)
		}
	}
}
