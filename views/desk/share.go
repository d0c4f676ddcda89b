package desk

import "github.com/usherbox/usher/seats/organizers"

// BoardPath is the address of a live desk by its shared link.
func BoardPath(token string) string { return "/boards/" + token }

// SharesPath is the address of the links to an event's live desk.
func SharesPath(slug string) string { return EventPath(slug) + "/shares" }

// SharesPage is the links to an event's live desk.
type SharesPage struct {
	Frame
	List []organizers.Share

	Link     string // that was just made; no other page has it
	Name     string // as it was typed into a form that could not be taken
	Days     int
	Mistakes organizers.Mistakes
}

// chosen reports whether a time is marked when the form is shown.
func (p SharesPage) chosen(days int) bool { return days == p.Days || p.Days == 0 && days == 7 }
