package guests

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Limits of a guest.
const (
	MostPlaces = 50
	MostLines  = 500 // that are added at once
	mostName   = 200 // characters
	mostNote   = 500
)

var number = regexp.MustCompile(`^(\+?)(\d{1,4})$`)

// Read reads guests, one on each line: a name, and then in any order an email address and a number of places, a note, and who invited
// them, with tabs, semicolons or commas between. +1 stands for two places. by invited the guests of lines that do not say who did.
//
// Errors: *seats.ValidationError says what is wrong with which line.
func Read(typed, by string) (list []Guest, err error) {
	by = strings.Join(strings.Fields(by), " ")
	for n, line := range strings.Split(typed, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		g, wrong := readLine(line)
		if g.InvitedBy == "" {
			g.InvitedBy = by
		}
		if wrong == "" {
			wrong = g.wrong()
		}
		if wrong != "" {
			return nil, &seats.ValidationError{Message: text.Mark("Line %d: %s No guest was added."), Args: []any{n + 1, text.Say(wrong)}}
		}
		if list = append(list, g); len(list) > MostLines {
			return nil, &seats.ValidationError{Message: text.Mark("Add at most %d guests at once. No guest was added."), Args: []any{MostLines}}
		}
	}
	return list, nil
}

// readLine reads one guest.
func readLine(line string) (g Guest, wrong string) {
	between := ","
	for _, sign := range []string{"\t", ";"} {
		if strings.Contains(line, sign) {
			between = sign
			break
		}
	}
	g.Places = 1
	fields := strings.Split(line, between)
	for i := range fields {
		fields[i] = strings.Join(strings.Fields(fields[i]), " ")
	}
	columns := len(fields) == 5 && (fields[1] == "" || strings.Contains(fields[1], "@")) && (fields[2] == "" || number.MatchString(fields[2]))
	var rest []string
	for i, field := range fields {
		found := number.FindStringSubmatch(field)
		switch {
		case i == 0:
			g.Name = field
		case field == "" && !(columns && i == 3): // an empty note in a table with all columns
		case found != nil:
			g.Places, _ = strconv.Atoi(found[2]) // at most four digits
			if found[1] != "" {
				g.Places++
			}
		case g.Email == "" && seats.IsEmail(field):
			g.Email = field
		case g.Email == "" && strings.Contains(field, "@"):
			return g, text.Mark("The email address is not in the format name@example.com.")
		default:
			rest = append(rest, field)
		}
	}
	if len(rest) > 0 {
		g.Note = rest[0]
	}
	if len(rest) > 1 {
		g.InvitedBy = rest[1]
	}
	if len(rest) > 2 {
		return g, text.Mark("There is more on it than a name, an email, places, a note and who invited them.")
	}
	return g, ""
}

// wrong says what is wrong with a guest; empty for nothing.
func (g Guest) wrong() string {
	switch {
	case !seats.OneLine(g.Name, mostName) || !seats.OneLine(g.InvitedBy, mostName) || !seats.OneLine(g.Note, mostNote) || !utf8.ValidString(g.Email):
		return text.Mark("A name has at most 200 characters, and a note 500.")
	case g.Name == "" || strings.Contains(g.Name, "@"):
		return text.Mark("It begins with the name of the guest.")
	case g.Places < 1 || g.Places > MostPlaces:
		return text.Mark("A guest has 1 to 50 places.")
	}
	return ""
}
