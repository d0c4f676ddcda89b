package desk

import (
	"context"

	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// LettersPath is the address of what an event sends by itself.
func LettersPath(slug string) string { return EventPath(slug) + "/letters" }

// LettersPage is the form of what an event sends by itself.
type LettersPage struct {
	Frame
	Form             letters.Settings
	Upcoming, Thanks letters.Sent
	Unsubscribed     int // addresses that get no thanks of the team
	Mistakes         organizers.Mistakes
	Wrong            string // why it was not saved
}

// thanked are the choices of who is thanked.
var thanked = []struct {
	of    letters.Thanks
	words string
}{
	{letters.ThanksOff, text.Mark("No one")},
	{letters.ThanksScanned, text.Mark("Orders with a ticket that was checked in")},
	{letters.ThanksAll, text.Mark("All orders")},
}

// sentWords says how far the letters of a kind are.
func (p LettersPage) sentWords(ctx context.Context, s letters.Sent) string {
	when := func(pattern string) string {
		if s.Due == nil {
			return ""
		}
		return text.Time(ctx, p.Event.Local(*s.Due), pattern)
	}
	switch {
	case s.Ended == nil && s.Written == 0 && s.Due != nil:
		return text.T(ctx, "Planned for %s.", when("Mon 2 January 2006, 15:04"))
	case s.Written == 0 && s.Ended != nil:
		return text.T(ctx, "No order got it.")
	case s.Written == 0:
		return ""
	}
	words := text.N(ctx, "%[2]d of %[1]d email sent.", "%[2]d of %[1]d emails sent.", s.Written, s.Sent)
	if s.Refused > 0 {
		words += " " + text.N(ctx, "%d address refused it.", "%d addresses refused it.", s.Refused)
	}
	return words
}
