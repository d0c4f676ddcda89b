package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
)

// Lengths of texts in characters, sizes in plan units.
const (
	maxName     = 100 // of a plan, a category, a section
	maxLabel    = 40  // of a row, a seat's number
	maxID       = 200
	maxText     = 200
	maxSide     = 1e6 // width and height of a drawing
	maxSections = 10_000
	maxCats     = 200
	maxFloors   = 20
	// Pictures to trace: some for each floor.
	maxUnderlays = 60
	maxPrice     = 1e12 // minor units
)

// Check reports whether a plan keeps the rules: names that can stand in a label and are unique, sections and rows
// without gaps, ids that name one seat, everything finite and inside the drawing. It names the first rule that is broken. A plan may have no seats yet; there
// is an event of it once it has.
func Check(p *seats.Plan) error {
	if p == nil {
		return errors.New("there is no plan")
	}
	for _, check := range []func(*seats.Plan) error{checkSize, checkCategories, checkFloors, checkSections, checkSeats, checkRows, checkTogether, checkShapes} {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

func checkSize(p *seats.Plan) error {
	if err := checkName("the plan", p.Name, maxName); err != nil {
		return err
	}
	if !(p.Width > 0 && p.Width <= maxSide && p.Height > 0 && p.Height <= maxSide) {
		return fmt.Errorf("the drawing is %g by %g units; each side is more than 0 and at most %d", p.Width, p.Height, int(maxSide))
	}
	if len(p.Seats) > seats.MaxSeats {
		return fmt.Errorf("the plan has %d seats; it has at most %d", len(p.Seats), seats.MaxSeats)
	}
	if p.Focus != nil && !finite(p.Focus.X, p.Focus.Y) {
		return errors.New("the focus is not a place in a drawing")
	}
	return nil
}

func checkCategories(p *seats.Plan) error {
	if len(p.Categories) == 0 || len(p.Categories) > maxCats {
		return fmt.Errorf("the plan has %d categories; it needs 1 to %d", len(p.Categories), maxCats)
	}
	keys := map[string]bool{}
	for _, c := range p.Categories {
		if err := checkName("a category's key", c.Key, maxName); err != nil {
			return err
		}
		if err := checkName("category "+c.Key, c.Name, maxName); err != nil {
			return err
		}
		if keys[c.Key] {
			return fmt.Errorf("two categories have the key %q", c.Key)
		}
		keys[c.Key] = true
		if c.Color != "" && hexColor(c.Color) == "" {
			return fmt.Errorf("category %q has the color %q; a color is #rrggbb or empty", c.Key, c.Color)
		}
		if c.Price < 0 || c.Price > maxPrice {
			return fmt.Errorf("category %q costs %d; a price is 0 to %d minor units", c.Key, c.Price, int64(maxPrice))
		}
	}
	return nil
}

// checkFloors holds that floors have names of their own, and that everything is on one of them.
func checkFloors(p *seats.Plan) error {
	if len(p.Floors) == 1 || len(p.Floors) > maxFloors {
		return fmt.Errorf("the plan has %d floors; it has none, or 2 to %d", len(p.Floors), maxFloors)
	}
	names := map[string]bool{}
	for i, f := range p.Floors {
		if err := checkName(fmt.Sprintf("floor %d", i), f.Name, maxName); err != nil {
			return err
		}
		if names[f.Name] {
			return fmt.Errorf("two floors are called %q", f.Name)
		}
		names[f.Name] = true
		if !finite(f.At.X, f.At.Y, f.Low.X, f.Low.Y, f.High.X, f.High.Y) {
			return fmt.Errorf("floor %q is at no place in a drawing", f.Name)
		}
	}
	last := max(0, len(p.Floors)-1)
	for _, s := range p.Sections {
		if s.Floor < 0 || s.Floor > last {
			return fmt.Errorf("section %q is on floor %d; the plan has %d", s.Name, s.Floor, len(p.Floors))
		}
	}
	for i, s := range p.Shapes {
		if s.Floor < 0 || s.Floor > last {
			return fmt.Errorf("shape %d is on floor %d; the plan has %d", i, s.Floor, len(p.Floors))
		}
	}
	return nil
}

func checkSections(p *seats.Plan) error {
	if len(p.Sections) > maxSections {
		return fmt.Errorf("the plan has %d sections, more than %d", len(p.Sections), maxSections)
	}
	names := map[string]bool{}
	next := 0
	for i, s := range p.Sections {
		if err := checkName(fmt.Sprintf("section %d", i), s.Name, maxName); err != nil {
			return err
		}
		if names[s.Name] {
			return fmt.Errorf("two sections are called %q", s.Name)
		}
		names[s.Name] = true
		if s.Count <= 0 {
			return fmt.Errorf("section %q has no seats", s.Name)
		}
		if s.First != next {
			return fmt.Errorf("section %q begins at seat %d; the one before it ends at %d", s.Name, s.First, next)
		}
		if s.Count > len(p.Seats)-next {
			return fmt.Errorf("section %q ends after the last seat", s.Name)
		}
		next += s.Count
		if len(s.Outline) < 3 {
			return fmt.Errorf("section %q has no outline", s.Name)
		}
		if !drawable(s.Outline) {
			return fmt.Errorf("the outline of section %q has a point that is no place in a drawing", s.Name)
		}
	}
	if next != len(p.Seats) {
		return fmt.Errorf("the sections hold %d seats, the plan has %d", next, len(p.Seats))
	}
	return nil
}

func checkName(of, name string, most int) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%s has no name", of)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%s is called %q, with space around the name", of, name)
	case strings.Contains(name, "/"):
		return fmt.Errorf("%s is called %q; a slash parts the names in a label and stands in none", of, name)
	}
	return checkText(of, name, most)
}

func checkText(of, text string, most int) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s has a text that is not UTF-8", of)
	}
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("%s has a text of %d characters; at most %d are kept", of, n, most)
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s has a control character in %q", of, text)
	}
	return nil
}

func drawable(points []seats.Point) bool {
	for _, p := range points {
		if !finite(p.X, p.Y) {
			return false
		}
	}
	return true
}

// finite reports whether numbers can be drawn: neither infinite nor far beyond the largest drawing.
func finite(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.Abs(n) > 10*maxSide {
			return false
		}
	}
	return true
}

var (
	kinds = []string{"polygon", "line", "ellipse", "text", "icon"}
	roles = []string{"stage", "table", "wall", "label", "other"}
)

// Objects are the roles of icons: what is in a house and is not a seat.
var Objects = []string{"entrance", "exit", "bar", "toilets", "lift", "stairs", "cloakroom"}

const allFlags = seats.Accessible | seats.Companion | seats.RestrictedView | seats.AisleAfter

func checkSeats(p *seats.Plan) error {
	ids := make(map[string]bool, len(p.Seats))
	for i := range p.Sections {
		sec := &p.Sections[i]
		for idx := sec.First; idx < sec.First+sec.Count; idx++ {
			s := &p.Seats[idx]
			if s.Section != i {
				return fmt.Errorf("seat %d says section %d and stands in %q", idx, s.Section, sec.Name)
			}
			if err := checkSeat(p, idx, sec.Area); err != nil {
				return err
			}
			if ids[s.ID] {
				return fmt.Errorf("two seats have the id %q; one is %s", s.ID, p.Label(idx))
			}
			ids[s.ID] = true
		}
	}
	return nil
}

func checkSeat(p *seats.Plan, idx int, area bool) error {
	s := &p.Seats[idx]
	at := fmt.Sprintf("seat %d", idx)
	switch {
	case s.ID == "":
		return fmt.Errorf("%s has no id", at)
	case area && s.Row != "":
		return fmt.Errorf("%s is in an area and has a row, %q", at, s.Row)
	case s.Category < 0 || s.Category >= len(p.Categories):
		return fmt.Errorf("%s is in category %d; the plan has %d", at, s.Category, len(p.Categories))
	case s.Flags&^allFlags != 0:
		return fmt.Errorf("%s has the flags %d, of which some mean nothing", at, s.Flags)
	case !(s.X >= 0 && s.X <= p.Width && s.Y >= 0 && s.Y <= p.Height):
		return fmt.Errorf("%s is at %g, %g, outside of the drawing of %g by %g", at, s.X, s.Y, p.Width, p.Height)
	}
	if err := checkText(at, s.ID, maxID); err != nil {
		return err
	}
	if err := checkName("the number of "+at, s.Number, maxLabel); err != nil {
		return err
	}
	if area {
		return nil
	}
	return checkName("the row of "+at, s.Row, maxLabel)
}

// checkRows holds that a row's seats follow each other and that a label names one seat.
func checkRows(p *seats.Plan) error {
	for _, sec := range p.Sections {
		ended, numbers := map[string]bool{}, map[string]bool{}
		for idx := sec.First; idx < sec.First+sec.Count; idx++ {
			s := &p.Seats[idx]
			if idx > sec.First && s.Row != p.Seats[idx-1].Row {
				ended[p.Seats[idx-1].Row] = true
				clear(numbers)
			}
			if ended[s.Row] {
				return fmt.Errorf("the seats of row %q in %q do not follow each other", s.Row, sec.Name)
			}
			if numbers[s.Number] {
				return fmt.Errorf("two seats are called %s", p.Label(idx))
			}
			numbers[s.Number] = true
		}
	}
	return nil
}

func checkShapes(p *seats.Plan) error {
	for i, s := range p.Shapes {
		if err := checkShape(s); err != nil {
			return fmt.Errorf("shape %d: %w", i, err)
		}
	}
	return nil
}

func checkShape(s seats.Shape) error {
	switch {
	case !slices.Contains(kinds, s.Kind):
		return fmt.Errorf("%q is no kind of shape; there are %s", s.Kind, strings.Join(kinds, ", "))
	case s.Kind == "icon" && !slices.Contains(Objects, s.Role):
		return fmt.Errorf("%q is no role of an icon; there are %s", s.Role, strings.Join(Objects, ", "))
	case s.Kind != "icon" && !slices.Contains(roles, s.Role):
		return fmt.Errorf("%q is no role of a shape; there are %s", s.Role, strings.Join(roles, ", "))
	case !drawable(s.Points) || !finite(s.Center.X, s.Center.Y, s.RX, s.RY, s.Rotation, s.Size):
		return errors.New("it has a number that is no place or size in a drawing")
	case s.Kind == "polygon" && len(s.Points) < 3, s.Kind == "line" && len(s.Points) < 2:
		return fmt.Errorf("a %s needs more points", s.Kind)
	case s.Kind == "ellipse" && (s.RX <= 0 || s.RY <= 0):
		return errors.New("an ellipse needs two radii")
	case s.Kind == "text" && (s.Text == "" || s.Size <= 0):
		return errors.New("a text needs words and a size")
	case s.Kind == "icon" && s.Size <= 0:
		return errors.New("an icon needs a size")
	}
	return checkText("it", s.Text, maxText)
}
