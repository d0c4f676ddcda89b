package desk

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// MailTextsPath is the address of what mails say in words of the team.
const MailTextsPath = Path + "/mail-texts"

// MailTextsPage is the form of the words of one kind of mail in one language, with a preview.
type MailTextsPage struct {
	Frame
	Form     letters.Text // as it is saved, or as it was typed
	Saved    []letters.Text
	Asked    bool // the preview is of what was typed: nothing was saved
	Look     *pages.Branding
	Mistakes organizers.Mistakes
}

// mailKinds name the mails that may have words of a team.
var mailKinds = map[string]string{
	letters.TextConfirmation: text.Mark("Confirmation with tickets"),
	letters.TextUpcoming:     text.Mark("Reminder before the event"),
	letters.TextThanks:       text.Mark("Thanks after the event"),
	letters.TextOffer:        text.Mark("Offer of seats from the waiting list"),
}

// standard are the subjects without words of the team, and what stands between opening and closing.
var standard = map[string][2]string{
	letters.TextConfirmation: {text.Mark("Your tickets: %s"), text.Mark("Here: date and place, what is to pay, the seats with their prices, and the link to the tickets.")},
	letters.TextUpcoming:     {text.Mark("See you soon: %s"), text.Mark("Here: doors, start and place, the seats, the link to the tickets, what to bring and how to get there.")},
	letters.TextThanks:       {text.Mark("Thank you: %s"), text.Mark("Here: what you say in the automatic emails of the event.")},
	letters.TextOffer:        {text.Mark("Seats for you: %s"), text.Mark("Here: the seats, until when they are held, and the link to take them.")},
}

// path leads to the words of another kind or language.
func (p MailTextsPage) path(kind, language string) string {
	return MailTextsPath + "?" + url.Values{"kind": {kind}, "language": {language}}.Encode()
}

// languages are those that the program speaks, and the form's if it is another one.
func (p MailTextsPage) languages() (list []string) {
	list = append(list, "en")
	for _, l := range text.Languages() {
		if l.Tag != "en" {
			list = append(list, l.Tag)
		}
	}
	if !slices.Contains(list, p.Form.Language) {
		list = append(list, p.Form.Language)
	}
	return list
}

// standardSubject is the one without words of the team, in the language of the form.
func (p MailTextsPage) standardSubject(ctx context.Context) string {
	ctx = text.With(ctx, p.Form.Language)
	return text.T(ctx, standard[p.Form.Kind][0], text.T(ctx, "Your next event"))
}

// variables lists what the words may name.
func (p MailTextsPage) variables() string {
	return "{" + strings.Join(letters.Variables(p.Form.Kind), "}, {") + "}"
}

// example is the form with an example in the place of its variables.
func (p MailTextsPage) example(ctx context.Context) letters.Text {
	return p.Form.Fill(map[string]string{
		"name": "Ann Ørsted", "event": text.T(ctx, "Your next event"), "date": text.T(ctx, "Fri 1 March 2030, 20:00 CET"), "venue": text.T(ctx, "Playhouse"), "team": p.Member.TeamName, "order": "7K2M9Q",
	})
}
