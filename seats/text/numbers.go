package text

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/number"
)

// Number writes a count with its thousands apart.
func Number(ctx context.Context, n int) string { return of(ctx).printer.Sprint(n) }

// Money writes an amount of minor units, digits of which stand behind the point, as people do: "€250", "€12.50", "CHF 25",
// "¥3,000"; in German "250 €".
func Money(ctx context.Context, minor int64, digits int, iso string) string {
	l := of(ctx)
	whole, scale := minor, int64(1)
	for range digits {
		whole, scale = whole/10, scale*10
	}
	amount := l.printer.Sprint(whole)
	if rest := minor % scale; rest != 0 {
		// Translators: what stands before the decimals of an amount.
		amount += T(ctx, ".") + fmt.Sprintf("%0*d", digits, max(rest, -rest))
	}
	sign := Symbol(iso)
	if strings.IndexFunc(sign, unicode.IsLetter) >= 0 {
		// Translators: %[1]s is a currency in letters, such as CHF, and %[2]s an amount. The space is one that does not break.
		return T(ctx, "%[1]s\u00a0%[2]s", sign, amount)
	}
	// Translators: %[1]s is the sign of a currency, such as €, and %[2]s an amount. If there is a space, it does not break.
	return T(ctx, "%[1]s%[2]s", sign, amount)
}

// Symbol is the sign of a currency, or its code if it has none.
func Symbol(iso string) string {
	unit, err := currency.ParseISO(iso)
	if err != nil {
		return iso
	}
	return fmt.Sprint(currency.NarrowSymbol(unit))
}

// Names in dates. A language may write them in another case than English does.
var (
	months = [...]string{
		Mark("January"), Mark("February"), Mark("March"), Mark("April"), Mark("May"), Mark("June"),
		Mark("July"), Mark("August"), Mark("September"), Mark("October"), Mark("November"), Mark("December"),
	}
	short = [...]string{
		Mark("Jan"), Mark("Feb"), Mark("Mar"), Mark("Apr"), Mark("May"), Mark("Jun"), Mark("Jul"), Mark("Aug"), Mark("Sep"), Mark("Oct"), Mark("Nov"), Mark("Dec"),
	}
	weekdays = [...]string{Mark("Sunday"), Mark("Monday"), Mark("Tuesday"), Mark("Wednesday"), Mark("Thursday"), Mark("Friday"), Mark("Saturday")}

	days = [...]string{Mark("Sun"), Mark("Mon"), Mark("Tue"), Mark("Wed"), Mark("Thu"), Mark("Fri"), Mark("Sat")}
)

// Translators: zones of time as a reader of your language knows them; "CET" if that is how they are called.
var _ = [...]string{Mark("CET"), Mark("CEST"), Mark("WET"), Mark("WEST"), Mark("EET"), Mark("EEST")}

// named are the parts of a layout that a language says in its own way.
var named = regexp.MustCompile("January|Jan|Monday|Mon|MST")

// Time writes a time by a layout of package time, such as "Mon 2 January 2006, 15:04 MST". The layout is a message: a language
// has its own. Of its names only "January", "Jan", "Monday", "Mon" and "MST" may be used.
func Time(ctx context.Context, t time.Time, layout string) string {
	if layout != "Mon" && layout != "Monday" && layout != "Jan" && layout != "January" { // a name alone is translated below
		layout = T(ctx, layout)
	}
	var b strings.Builder
	at := 0
	for _, name := range named.FindAllStringIndex(layout, -1) {
		b.WriteString(t.Format(layout[at:name[0]]))
		at = name[1]
		switch layout[name[0]:at] {
		case "January":
			b.WriteString(T(ctx, months[t.Month()-1]))
		case "Jan":
			b.WriteString(T(ctx, short[t.Month()-1]))
		case "Monday":
			b.WriteString(T(ctx, weekdays[t.Weekday()]))
		case "Mon":
			b.WriteString(T(ctx, days[t.Weekday()]))
		case "MST":
			b.WriteString(T(ctx, t.Format("MST")))
		}
	}
	b.WriteString(t.Format(layout[at:]))
	return b.String()
}

// Percent writes a percentage with at most three decimals: "12.5%".
func Percent(ctx context.Context, percent float64) string {
	l := of(ctx)
	// Translators: a percentage, without or with a space that does not break.
	return T(ctx, "%s%%", l.printer.Sprint(number.Decimal(percent, number.MaxFractionDigits(3))))
}

// Both is a list of messages that is said later: "A, B and C".
type Both []string

// In says it.
func (b Both) In(ctx context.Context) string {
	things := make([]string, len(b))
	for i, id := range b {
		things[i] = T(ctx, id)
	}
	return List(ctx, things)
}

// Either writes things of which one is enough: "A, B or C".
func Either(ctx context.Context, things []string) string {
	if len(things) < 2 {
		return strings.Join(things, "")
	}
	last := len(things) - 1
	// Translators: the end of a list; %[1]s is everything but the last thing.
	return T(ctx, "%[1]s or %[2]s", strings.Join(things[:last], T(ctx, ", ")), things[last])
}

// List writes things one after the other: "A, B and C".
func List(ctx context.Context, things []string) string {
	if len(things) < 2 {
		return strings.Join(things, "")
	}
	last := len(things) - 1
	// Translators: the end of a list; %[1]s is everything but the last thing.
	return T(ctx, "%[1]s and %[2]s", strings.Join(things[:last], T(ctx, ", ")), things[last])
}

// Isolate keeps what someone wrote in one piece among words that are written from right to left: without it, a name beside an
// address and the full stop after a sentence change places (UAX #9, isolates).
func Isolate(ctx context.Context, s string) string {
	if s == "" || Direction(ctx) != "rtl" {
		return s
	}
	return "\u2068" + s + "\u2069"
}
