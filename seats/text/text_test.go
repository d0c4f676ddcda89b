package text

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

const inPolish = `msgid ""
msgstr ""
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);\n"

msgid "Checkout"
msgstr "Kasa"

msgid "%s of %d"
msgstr "%[2]d, %[1]s"

msgid "%d ticket"
msgid_plural "%d tickets"
msgstr[0] "%d bilet"
msgstr[1] "%d bilety"
msgstr[2] "%d biletów"
`

func in(l *Language) context.Context { return context.WithValue(context.Background(), key{}, l) }

func TestT_IsTheTranslation(t *testing.T) {
	t.Parallel()
	polish := in(newLanguage("pl", []byte(inPolish)))
	for got, want := range map[string]string{
		T(polish, "Checkout"):                                    "Kasa",
		T(polish, "Not translated"):                              "Not translated",
		T(polish, "%s of %d", "a", 3):                            "3, a",
		T(context.Background(), "%s of %d", "a", 1200):           "a of 1,200",
		T(context.Background(), "100% sure"):                     "100% sure",
		T(polish, "Your %s", Some(5, "%d ticket", "%d tickets")): "Your 5 biletów",
		Say("%s of %d", "a", 2).In(polish):                       "2, a",
		Say("%s of %d", "a", 2).String():                         "a of 2",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestN_TakesTheFormOfTheLanguage(t *testing.T) {
	t.Parallel()
	polish := in(newLanguage("pl", []byte(inPolish)))
	for n, want := range map[int]string{1: "1 bilet", 3: "3 bilety", 5: "5 biletów"} {
		if got := N(polish, "%d ticket", "%d tickets", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n, want := range map[int]string{0: "0 tickets", 1: "1 ticket", 1200: "1,200 tickets"} {
		if got := N(context.Background(), "%d ticket", "%d tickets", n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestT_WithoutArgumentsAllocatesNothing(t *testing.T) {
	ctx := in(newLanguage("pl", []byte(inPolish)))
	if n := testing.AllocsPerRun(100, func() { _ = T(ctx, "Checkout") }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestAccepted_IsTheBestShippedLanguage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", "de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "en-US,en;q=0.9,de;q=0.8": "en", "en;q=0.5,de;q=0.9": "de", "xx-YY, de;q=0.3": "de", "xx": "", "*": "", "\x00;;q": "",
	} {
		if got, found := Accepted(header); got != want || found != (want != "") {
			t.Errorf("%q leads to %q, want %q", header, got, want)
		}
	}
	if tag, is := Shipped(""); is {
		t.Errorf("no language is %q", tag)
	}
}

func TestDirection_IsThatOfTheScript(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"en": "ltr", "de": "ltr", "ja": "ltr", "ar": "rtl", "he": "rtl", "fa": "rtl"} {
		if got := Direction(With(t.Context(), tag)); got != want {
			t.Errorf("%s is %s, want %s", tag, got, want)
		}
	}
}

func TestGerman_WritesMoneyAndDaysAsGermansDo(t *testing.T) {
	t.Parallel()
	german, english := With(t.Context(), "de"), t.Context()
	at := time.Date(2030, 3, 1, 19, 30, 0, 0, time.UTC)
	inVienna := at.In(time.FixedZone("CET", 3600))
	for got, want := range map[string]string{
		Money(german, 1234550, 2, "EUR"):                        "12.345,50\u00a0€",
		Money(english, 1234550, 2, "EUR"):                       "€12,345.50",
		Money(german, 2500, 2, "CHF"):                           "25\u00a0CHF",
		Money(english, 2500, 2, "CHF"):                          "CHF\u00a025",
		Money(english, 3000, 0, "JPY"):                          "¥3,000",
		Time(german, at, "Mon 2 January 2006, 15:04\u00a0MST"):  "Fr., 1. März 2030, 19:30\u00a0UTC",
		Time(english, at, "Mon 2 January 2006, 15:04\u00a0MST"): "Fri 1 March 2030, 19:30\u00a0UTC",
		Time(german, inVienna, "15:04 MST"):                     "20:30 MEZ",
		Time(english, inVienna, "15:04 MST"):                    "20:30 CET",
		Time(german, at, "Mon"):                                 "Fr.",
		Time(english, at, "Mon"):                                "Fri",
		Time(german, at, "January"):                             "März",
		Percent(german, 12.5):                                   "12,5\u00a0%",
		Percent(english, 12.5):                                  "12.5%",
		List(german, []string{"A", "B", "C"}):                   "A, B und C",
		List(english, []string{"A", "B", "C"}):                  "A, B and C",
		Languages()[0].Name + Languages()[1].Name:               "Englishالعربية",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNumber_HasTheDigitsOfTimes(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"ar", "fa", "ja"} {
		if got := Number(With(t.Context(), tag), 200); got != "200" {
			t.Errorf("%s: %q, want 200", tag, got)
		}
	}
}

func TestTime_NamesTheDayOfTheWeek(t *testing.T) {
	t.Parallel()
	saturday := time.Date(2026, 11, 28, 20, 0, 0, 0, time.UTC)
	for tag, want := range map[string][2]string{"en": {"Saturday 28 November", "Saturday"}, "de": {"Samstag, 28. November", "Samstag"}, "ja": {"11月28日（土）", "土曜日"}} {
		ctx := With(t.Context(), tag)
		if got := [2]string{Time(ctx, saturday, "Monday 2 January"), Time(ctx, saturday, "Monday")}; got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func TestLoad_ADraftIsNotOffered(t *testing.T) {
	t.Parallel()
	const good = "msgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n\nmsgid \"Order\"\nmsgstr \"Commande\"\n"
	if newLanguage("fr", []byte(good)).isDraft {
		t.Error("a whole language is taken for a draft")
	}
	if !newLanguage("fr", []byte(strings.Replace(good, "\"\n\nmsgid", "\"\n\"X-Draft: yes\\n\"\n\nmsgid", 1))).isDraft {
		t.Error("a draft is offered")
	}
}

func TestStored_IsReadInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	s := NewStored("%[1]s has the role %[3]s in %[2]s.", "It failed: %s").Naming("owner")
	polish := in(newLanguage("pl", []byte(inPolish+`
msgid "owner"
msgstr "właściciel"

msgid "%[1]s has the role %[3]s in %[2]s."
msgstr "%[2]s: %[1]s, %[3]s."

msgid "It failed: %s"
msgstr "Błąd: %s"
`)))
	for english, want := range map[string]string{
		"Ann has the role owner in Team A.": "Team A: Ann, właściciel.",
		"Checkout":                          "Kasa",
		"It failed: Checkout":               "Błąd: Kasa",
		"It failed: connection reset":       "Błąd: connection reset",
		"what no catalogue has":             "what no catalogue has",
	} {
		if got := s.In(polish, english); got != want {
			t.Errorf("%q is read as %q, want %q", english, got, want)
		}
		if got := s.In(context.Background(), english); got != english {
			t.Errorf("%q is %q in English", english, got)
		}
	}
}

func TestT_FillsWordsAsSprintfDoes(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"%s", "Sorry, %s was just taken.", "%s and %s", "%s, row %s, seat %s", "%[2]s, %[1]s", "100%% of %s", "%s: 5 %", "%q", "none", "%s%s", "é %s “%s”"} {
		for _, args := range [][]any{{"a"}, {"Stalls", "%s"}, {"", "é", "x"}} {
			if got, want := T(t.Context(), form, args...), fmt.Sprintf(form, args...); got != want {
				t.Errorf("%q of %q: got %q, want %q", form, args, got, want)
			}
		}
	}
}
