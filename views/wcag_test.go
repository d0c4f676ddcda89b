package views_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// What WCAG 2.2 asks of the HTML of every page of attendees, criterion by criterion; docs/accessibility.md names these
// tests. A check lists what it found. It is tried on pieces of pages with what it must find.

var (
	readOnce sync.Once
	pages    = map[string]*document{}
)

// pagesRead is every page of attendees by its name, read once for all tests.
func pagesRead(t *testing.T) map[string]*document {
	t.Helper()
	readOnce.Do(func() {
		for _, s := range attendees(t, views.Page{Title: "Evening", Nonce: "nonce"}) {
			pages[s.name] = read(render(t, s.c))
		}
	})
	return pages
}

func held(t *testing.T, check func(*document) []string, planted ...string) {
	t.Helper()
	for name, d := range pagesRead(t) {
		for _, found := range check(d) {
			t.Errorf("%s: %s", name, found)
		}
	}
	for _, p := range planted {
		if len(check(read(p))) == 0 {
			t.Errorf("nothing was found in %s", p)
		}
	}
}

// each calls look for the elements of these names, and lists what it says.
func (d *document) each(names string, look func(tag) string) (found []string) {
	for _, t := range d.tags {
		if slices.Contains(strings.Fields(names), t.name) {
			if text := look(t); text != "" {
				found = append(found, fmt.Sprintf("<%s %v> %s", t.name, t.attr, text))
			}
		}
	}
	return found
}

func has(t tag, key string) bool {
	_, ok := t.attr[key]
	return ok
}

// words are what people read of an element, in one line.
func (t tag) words() string { return strings.Join(strings.Fields(t.text), " ") }

// away reports whether an element is not there for anybody, or only in a state that scripts turn on.
func (d *document) away(t tag) bool {
	gone := func(t tag) bool { return has(t, "hidden") || t.name == "template" || t.attr["aria-hidden"] == "true" }
	return gone(t) || slices.ContainsFunc(t.around, func(at int) bool { return gone(d.tags[at]) })
}

func TestPagesPlayNothingAndShowNoPicturesOfText(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		return d.each("audio video track object embed iframe img picture input", func(t tag) string {
			if t.name == "input" && t.attr["type"] != "image" {
				return ""
			}
			return "is sound, a film or a picture"
		})
	}, `<video autoplay></video>`, `<img src="/seats.png" alt="Row A">`)
}

// ofPerson are the fields about the visitor, and what browsers know them by (1.3.5); the others ask for
// something else.
var ofPerson = map[string]string{"name": "name", "email": "email", "born": "bday"}

var ofMatter = regexp.MustCompile(`^(q|from|best|quantity|until|code|category|seat|section|ticket|method|most|terms|together|fewer|aisle|party|proposal|answer-\d+|area)$`)

func TestFieldsAboutAPersonAreKnownToTheBrowserByTheirPurpose(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	held(t, func(d *document) []string {
		return d.each("input select textarea", func(t tag) string {
			name, kind := t.attr["name"], t.attr["type"]
			seen[name] = true
			want, personal := ofPerson[name]
			switch {
			case kind == "hidden":
			case personal && t.attr["autocomplete"] != want:
				return "is to have autocomplete=" + want
			case !personal && !ofMatter.MatchString(name):
				return "is not known: is it about the person?"
			}
			return ""
		})
	}, `<input name="email" type="email">`, `<input name="email" autocomplete="off">`, `<input name="phone" type="tel">`)
	for name := range ofPerson {
		if !seen[name] {
			t.Errorf("no page asks for %s: this test looks at too little", name)
		}
	}
}

func TestEveryFieldHasALabelThatIsSeen(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		return d.each("input select textarea", func(t tag) string {
			if t.attr["type"] == "hidden" || d.away(t) || d.labelled(t) {
				return ""
			}
			return "has no label"
		})
	}, `<textarea name="answer1" aria-label="Why"></textarea>`, `<label></label><input name="best">`)
}

var empty = []string{"here", "click here", "more", "read more", "link", "details", "continue"}

func TestALinkSaysWhereItLeadsAndTheSameWordsLeadToTheSamePlace(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		leads := map[string]string{}
		return d.each("a", func(t tag) string {
			if d.away(t) {
				return ""
			}
			words := t.words()
			if label := t.attr["aria-label"]; label != "" {
				words = label
			}
			before, known := leads[words]
			leads[words] = t.attr["href"]
			switch {
			case slices.Contains(empty, strings.ToLower(words)):
				return "says nothing"
			case known && before != t.attr["href"]:
				return "has the words of another link, which leads to " + before
			}
			return ""
		})
	}, `<a href="/x">Click here</a>`, `<a href="/x">Rows</a><a href="/y">Rows</a>`)
}

func TestHeadingsAreInOrderAndSayWhatIsBelow(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		level, heads := 0, map[string]bool{}
		return d.each("h1 h2 h3 h4", func(t tag) string {
			if d.away(t) {
				return ""
			}
			before, own := level, int(t.name[1]-'0')
			level = own
			switch {
			case t.words() == "":
				return "is empty"
			case own > before+1 && !d.inside(t, "dialog"):
				return fmt.Sprintf("comes after a heading of level %d", before)
			case heads[t.words()]:
				return "stands there twice: " + t.words()
			}
			heads[t.words()] = true
			return ""
		})
	}, `<h1>A</h1><h3>B</h3>`, `<h1>A</h1><h2>Prices</h2><h2>Prices</h2>`, `<h1> </h1>`)
}

// What is read out begins with, or holds, what is seen: people say it to their computers (2.5.3).
func TestTheNameOfAControlHoldsTheWordsOnIt(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		found := d.each("a button summary", func(t tag) string { return misnamed(t.attr["aria-label"], t.words()) })
		return append(found, d.each("input", func(t tag) string {
			if len(t.around) == 0 || t.attr["name"] != "seat" {
				return ""
			}
			return misnamed(t.attr["aria-label"], d.tags[t.around[len(t.around)-1]].words())
		})...)
	}, `<button aria-label="Put it into the basket">Hold</button>`, `<label><input name="seat" aria-label="Place seven"><span>7</span></label>`)
}

func misnamed(name, seen string) string {
	if name == "" || strings.Contains(strings.ToLower(name), strings.ToLower(seen)) {
		return ""
	}
	return "shows " + seen
}

func TestPagesAreInOneLanguageAndSayWhich(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		if len(d.tags) == 0 || d.tags[0].attr["lang"] != "en" {
			return []string{"the page does not say that it is in English"}
		}
		return d.each("p span a button h1 h2 li section", func(t tag) string {
			if has(t, "lang") {
				return "is in another language"
			}
			return ""
		})
	}, `<html><body></body></html>`)
}

// The way back stands first on every page, before the title and the rest (3.2.3). Help stands nowhere (3.2.6): once
// there is some, it has to be in the same place everywhere.
func TestTheWayBackIsAtTheSamePlaceEverywhereAndHelpNowhere(t *testing.T) {
	t.Parallel()
	helps := regexp.MustCompile(`(?i)\b(help|contact|support|faq|chat)\b`)
	held(t, func(d *document) []string {
		first, header := -1, false
		for i, t := range d.tags {
			header = header || t.name == "header" && t.attr["class"] == "masthead"
			if t.name == "a" && first < 0 {
				first = i
			}
		}
		found := d.each("a button", func(t tag) string {
			if helps.MatchString(t.words()) || strings.HasPrefix(t.attr["href"], "mailto:") || strings.HasPrefix(t.attr["href"], "tel:") {
				return "is help"
			}
			return ""
		})
		if header && (first < 0 || d.tags[first].attr["class"] != "home") {
			found = append(found, "the first link is not the way back")
		}
		return found
	}, `<a href="mailto:x@example.org">Write to us</a>`, `<header class="masthead"><h1><a href="/events/x">X</a></h1><a class="home" href="/events">All</a></header>`, `<a href="/help">Help</a>`)
}

// What does the same has the same name, on whatever page (3.2.4).
func TestPages_SameActionsHaveTheSameName(t *testing.T) {
	t.Parallel()
	names := map[string]map[string]bool{}
	note := func(what, name string) {
		if names[what] == nil {
			names[what] = map[string]bool{}
		}
		names[what][name] = true
	}
	for _, d := range pagesRead(t) {
		for _, t := range d.tags {
			name := t.words()
			if t.attr["aria-label"] != "" {
				name = t.attr["aria-label"]
			}
			switch {
			case t.name != "button" && t.name != "a":
			case has(t, "data-pause"), has(t, "data-dismiss"), has(t, "data-more"), has(t, "data-zoom"):
				note(fmt.Sprintf("%v", t.attr), name)
			case t.attr["name"] == "extend", name == "Extend time":
				note("more time", name)
			case t.attr["href"] == "/events" && t.attr["class"] == "home":
				note("home", name)
			case t.attr["href"] == "/events/evening/waitlist" && !strings.Contains(name, "again") && !strings.HasPrefix(name, "More than one"): // more than the button asks for
				note("waiting list", strings.TrimSuffix(name, " of Evening"))
			}
		}
	}
	if len(names) < 6 {
		t.Errorf("only %v were found: this test sees too little", slices.Collect(maps.Keys(names)))
	}
	for what, all := range names {
		if len(all) > 1 {
			t.Errorf("%s is called %v", what, slices.Sorted(maps.Keys(all)))
		}
	}
}

// No attendee has to remember a password, solve a puzzle or type what they typed before (3.3.7, 3.3.8), and no browser is kept
// from filling in what it knows.
func TestPages_AskAttendeesForNoPasswordOrPuzzle(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		return d.each("input", func(t tag) string {
			if t.attr["type"] == "password" || has(t, "onpaste") || strings.Contains(strings.ToLower(t.attr["name"]), "captcha") {
				return "is a test of memory or wit"
			}
			return ""
		})
	}, `<input type="password" name="code">`, `<input name="captcha">`)
}

// Before buying, visitors see what and for how much, and can change it; the button says what it does (3.3.4).
func TestAnOrderIsLookedAtBeforeItIsSentAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", holds["a hold"])
	p := typed(views.Page{Title: "Evening"}, s)
	p.Methods, p.Form.Method = []string{"door"}, "door"
	text := render(t, shop.Checkout(p))
	for _, want := range []string{
		`href="/events/evening">Change seats</a>`, `<h2 id="what-title">Your order</h2>`, s.Plan.Words(3), s.Plan.Words(5), `<b>2 tickets</b>`, `<b>€190</b>`, `Order with obligation to pay · €190`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the checkout lacks %s", want)
		}
	}
	text = render(t, shop.Order(ordered(views.Page{Title: "Evening"}, s, "Ann")))
	for _, want := range []string{`<summary>Cancel tickets</summary>`, `<legend>Select tickets to cancel</legend>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the order lacks %s", want)
		}
	}
}

// Each section is found in the drawing and in a list, each event in the list to which every page leads (2.4.5).
func TestASectionIsFoundInTheDrawingAndInAList(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	d := read(render(t, shop.Event(shop.EventPage{Page: views.Page{Title: "Evening"}, Sale: s, Message: nil})))
	drawn, listed, home := map[string]bool{}, map[string]bool{}, false
	for _, t := range d.tags {
		if t.name == "a" {
			drawn[t.attr["href"]] = drawn[t.attr["href"]] || d.inside(t, "svg")
			listed[t.attr["href"]] = listed[t.attr["href"]] || d.inside(t, "nav")
			home = home || t.attr["href"] == "/events"
		}
	}
	for i, section := range s.Plan.Sections {
		if at := s.SectionPath(i); !drawn[at] || !listed[at] && !section.Area {
			t.Errorf("%s is drawn: %v, listed: %v", section.Name, drawn[at], listed[at])
		}
	}
	if !home {
		t.Error("nothing leads to the list of events")
	}
}

// Nothing that scripts do not stop goes on by itself; pages are loaded again only where there are no scripts.
func TestNothingMovesOrLoadsAgainByItself(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		return d.each("marquee blink meta", func(t tag) string {
			if t.name == "meta" && (!has(t, "http-equiv") || d.inside(t, "noscript")) {
				return ""
			}
			return "goes on by itself"
		})
	}, `<meta http-equiv="refresh" content="5">`, `<marquee>New</marquee>`)
}

func TestNoKeyIsAShortcutByItself(t *testing.T) {
	t.Parallel()
	held(t, func(d *document) []string {
		var found []string
		for _, t := range d.tags {
			if has(t, "accesskey") {
				found = append(found, t.name+" has an accesskey")
			}
		}
		return found
	}, `<button accesskey="h">Hold</button>`)
}
