package customers

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/text"
)

// Limits of lists.
const (
	mostPerson = 200 // characters
	mostPhone  = 40
	mostSource = 200
)

// Listed is a customer of a list.
type Listed struct {
	Line     int // of the list, from 1
	Email    string
	Name     string
	Phone    string
	Language string // such as de
	Tags     []string
	Note     string
	AgreedOn time.Time // to emails that are not about an order; zero: not said
	AgreedBy string    // where
}

// Columns are the names of the columns of a list. The first line has them in any order; only the email is needed.
var Columns = []string{"email", "name", "first name", "last name", "phone", "language", "tags", "note", "consent", "consent source"}

// alike are other names of columns.
var alike = map[string]string{"e mail": "email", "email address": "email", "first": "first name", "firstname": "first name", "last": "last name", "lastname": "last name", "telephone": "phone", "tag": "tags", "notes": "note", "consent date": "consent"}

func refused(why string, args ...any) error { return &seats.ValidationError{Message: why, Args: args} }

// Read reads a list, as a spreadsheet writes it: CSV with commas, semicolons or tabs between. The first line names the columns.
//
// Errors: *seats.ValidationError says what is wrong with which lines.
func Read(typed string) (list []Listed, err error) {
	typed = strings.TrimPrefix(typed, "\ufeff")
	first, _, _ := strings.Cut(typed, "\n")
	r := csv.NewReader(strings.NewReader(typed))
	r.FieldsPerRecord, r.Comma = -1, lists.Separator(first)
	head, err := r.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, refused(text.Mark("The list is empty. Its first line names the columns, such as email, name, tags."))
	case err != nil:
		return nil, refused(text.Mark("Line %d: %s"), 1, text.Say("Its quotation marks do not match."))
	}
	columns, err := columnsOf(head)
	if err != nil {
		return nil, err
	}
	var wrong lists.Wrong
	lines := map[string]int{} // by address
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if broken, is := errors.AsType[*csv.ParseError](err); is {
			wrong.Add(broken.StartLine, text.Say("Its quotation marks do not match.")) // nothing after it can be read
			break
		}
		line, _ := r.FieldPos(0)
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" }) {
			continue
		}
		o := Listed{Line: line}
		why := o.read(columns, fields)
		if earlier, twice := lines[o.Email]; twice && why.ID == "" {
			why = text.Say("%s is on line %d already.", o.Email, earlier)
		}
		if why.ID != "" {
			wrong.Add(line, why)
		} else {
			lines[o.Email] = line
		}
		list = append(list, o)
	}
	switch {
	case len(list) == 0 && len(wrong) == 0:
		return nil, refused(text.Mark("The list is empty. Write one person on each line below the names of the columns."))
	case len(list) > lists.MostLines:
		return nil, refused(text.Mark("Import at most %d customers at once. Nothing was imported."), lists.MostLines)
	}
	return list, wrong.Err()
}

// columnsOf are the names of the columns, as Columns has them.
func columnsOf(head []string) (columns []string, err error) {
	for _, written := range head {
		name := strings.ToLower(strings.Join(strings.FieldsFunc(written, func(r rune) bool { return strings.ContainsRune(" _-\t", r) }), " "))
		if same, is := alike[name]; is {
			name = same
		}
		switch {
		case name == "": // as below an empty cell of a spreadsheet
		case !slices.Contains(Columns, name):
			return nil, refused(text.Mark("There is no column “%s”. The first line names the columns: %s. Nothing was imported."), strings.TrimSpace(written), strings.Join(Columns, ", "))
		case slices.Contains(columns, name):
			return nil, refused(text.Mark("Two columns are named “%s”. Nothing was imported."), name)
		}
		columns = append(columns, name)
	}
	if !slices.Contains(columns, "email") {
		return nil, refused(text.Mark("No column is named “email”. The first line names the columns: %s. Nothing was imported."), strings.Join(Columns, ", "))
	}
	return columns, nil
}

// read reads the fields of a line, and returns what is wrong with them.
func (o *Listed) read(columns, fields []string) (wrong text.Message) {
	of := map[string]string{}
	for i, field := range fields {
		field = strings.TrimSpace(strings.ReplaceAll(field, "\r\n", "\n"))
		switch {
		case i < len(columns) && columns[i] != "":
			of[columns[i]] = field
		case field != "":
			return text.Say("It has a field below no name of a column.")
		}
	}
	one := func(name string) string { return strings.Join(strings.Fields(of[name]), " ") }
	o.Name, o.Phone, o.AgreedBy, o.Note, o.Tags = one("name"), one("phone"), one("consent source"), of["note"], ReadTags(of["tags"])
	if parts := strings.TrimSpace(one("first name") + " " + one("last name")); o.Name == "" {
		o.Name = parts
	}
	email, ok := seats.NormalEmail(of["email"])
	if !ok {
		return text.Say("“%s” is not an email address.", of["email"])
	}
	o.Email = strings.ToLower(email)
	if o.Language, ok = tagOf(one("language")); !ok {
		return text.Say("“%s” is not a language such as en or de-AT.", one("language"))
	}
	if o.AgreedOn, ok = lists.Day(one("consent")); !ok {
		return text.Say("“%s” is not a day such as 2030-01-31 or 31.1.2030.", one("consent"))
	}
	return o.check()
}

func (o *Listed) check() (wrong text.Message) {
	switch {
	case !seats.OneLine(o.Name, mostPerson) || !seats.OneLine(o.AgreedBy, mostSource):
		return text.Say("A name and the source of a consent have at most 200 characters.")
	case !seats.OneLine(o.Phone, mostPhone) || strings.Trim(o.Phone, "+0123456789 ()/.-") != "":
		return text.Say("“%s” is not a phone number.", o.Phone)
	case o.AgreedBy != "" && o.AgreedOn.IsZero():
		return text.Say("The source of a consent needs its day.")
	case strings.ContainsRune(o.Note, 0) || strings.ContainsRune(strings.Join(o.Tags, ""), 0):
		return text.Say("It has a character that cannot be stored.")
	}
	if (Note{Text: o.Note, Tags: o.Tags}).check() != nil {
		return text.Say("A note has at most 2,000 characters, and a customer 10 tags of at most 40 characters.")
	}
	return wrong
}

// tagOf writes the tag of a language in one way.
func tagOf(typed string) (tag string, ok bool) {
	if typed == "" {
		return "", true
	}
	parsed, err := language.Parse(typed)
	if err != nil || len(parsed.String()) > 35 {
		return "", false
	}
	return parsed.String(), true
}
