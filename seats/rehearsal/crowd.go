package rehearsal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Crowd is who comes to a rehearsal, as an organizer expects it.
type Crowd struct {
	People int     `json:"people"`
	Over   Seconds `json:"over"`             // within which they come
	Phones int     `json:"phones"`           // percent of them
	Party  string  `json:"party"`            // tickets of an order with the percent of orders, such as 1:20,2:60,4:20
	Bots   int     `json:"bots"`             // percent of the people
	Preset string  `json:"preset,omitempty"` // where the figures come from; empty: they are the organizer's own
}

// Standard is what the form says before an organizer changes it.
var Standard = Crowd{People: 2000, Over: 600, Phones: 70, Party: "1:20,2:60,4:20", Bots: 2}

// MostPeople come to a rehearsal.
const MostPeople = 200_000

const (
	mostOver  = 6 * time.Hour
	mostParty = 20

	longest     = 10 * time.Minute // people of a rehearsal come within this time: one of a longer sale runs faster
	longestRoom = 40 * time.Minute // the same in front of a waiting room, which runs as fast as the sale: its pace is part of it
)

// Presets are crowds of usual sales of an event with so many seats, without those of more people than can come, at the desk and for the command. How many people come for each
// seat is what decides about a sale; docs/rehearsal.md says where the figures come from.
func Presets(capacity int) []Crowd {
	people := func(perSeat float64) int { return max(int(perSeat*float64(capacity)), 1) }
	return slices.DeleteFunc([]Crowd{
		{Preset: "quiet", People: people(0.5), Over: 7200, Phones: 50, Party: "1:15,2:65,4:20"},
		{Preset: "popular", People: people(2), Over: 1800, Phones: 70, Party: "1:20,2:60,4:20", Bots: 1},
		{Preset: "rush", People: people(10), Over: 600, Phones: 80, Party: "1:10,2:60,4:30", Bots: 5},
		{Preset: "hype", People: people(40), Over: 600, Phones: 90, Party: "1:5,2:55,4:40", Bots: 20},
		{Preset: "camp", People: 967, Over: 17, Phones: 50, Party: "1:100"},
	}, func(c Crowd) bool { return c.People > MostPeople })
}

// Fill returns the crowd, or that of its preset.
func (c Crowd) Fill(capacity int) Crowd {
	for _, p := range Presets(capacity) {
		if p.Preset == c.Preset {
			return p
		}
	}
	return c
}

// Check refuses a crowd that cannot come to an event with so many seats. Errors: a *seats.ValidationError.
func (c Crowd) Check(capacity int) error {
	switch {
	case c.Preset != "" && !slices.ContainsFunc(Presets(capacity), func(p Crowd) bool { return p.Preset == c.Preset }):
		return seats.Unchanged(text.Say("There is no crowd of that name."))
	case c.People < 1 || c.People > MostPeople:
		return seats.Unchanged(text.Say("Enter how many people you expect, from 1 to 200,000."))
	case !(c.Over >= 1 && c.Over <= SecondsOf(mostOver)):
		return seats.Unchanged(text.Say("Enter within how many minutes they come, up to 360."))
	case c.Phones < 0 || c.Phones > 100 || c.Bots < 0 || c.Bots > 100:
		return seats.Unchanged(text.Say("Enter shares from 0 to 100 percent."))
	}
	return checkParty(c.Party)
}

func checkParty(party string) error {
	sum, seen := 0, map[int]bool{}
	for _, part := range strings.Split(party, ",") {
		size, share, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.Atoi(size)
		percent, err2 := strconv.Atoi(share)
		if err != nil || err2 != nil || n < 1 || n > mostParty || percent < 1 || percent > 100 || seen[n] {
			return seats.Unchanged(text.Say("Enter how large parties are, as in 1:20,2:60,4:20 for 20 percent with one ticket, 60 percent with two and 20 percent with four."))
		}
		sum, seen[n] = sum+percent, true
	}
	if sum != 100 {
		return seats.Unchanged(text.Say("The shares of parties add up to %d percent. They have to be 100.", sum))
	}
	return nil
}

// args are the arguments of the program that rehearses the sale of an event, which may have a waiting room, and writes its report into a file.
func (c Crowd) args(slug string, room bool, file string) []string {
	faster := max(1, c.Over.Duration().Seconds()/longest.Seconds())
	if room {
		faster = 1
	}
	return []string{
		"rehearse", slug, "--report", file, "--people", strconv.Itoa(c.People), "--over", c.Over.Duration().String(), "--phones", strconv.Itoa(c.Phones) + "%",
		"--party", strings.ReplaceAll(c.Party, " ", ""), "--bots", strconv.Itoa(c.Bots) + "%",
		"--faster", strconv.FormatFloat(faster, 'f', 2, 64),
	}
}
