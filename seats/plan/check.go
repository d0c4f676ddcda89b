package plan

import (
	"errors"
	"fmt"
	"math"
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
	maxPrice    = 1e12 // minor units
)

// Check says whether a plan may be put on sale: names that can stand in a label and are unique, sections and rows
// without gaps, ids that name one seat, everything finite and inside the drawing. It names the first rule that is broken.
func Check(p *seats.Plan) error {
	if p == nil {
		return errors.New("there is no plan")
	}
	for _, check := range []func(*seats.Plan) error{checkSize, checkCategories, checkSections, checkSeats, checkRows, checkShapes} {
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
	if len(p.Seats) == 0 || len(p.Seats) > seats.MaxSeats {
		return fmt.Errorf("the plan has %d seats; it needs 1 to %d", len(p.Seats), seats.MaxSeats)
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

// finite asks whether numbers can be drawn: neither infinite nor far beyond the largest drawing.
func finite(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.Abs(n) > 10*maxSide {
			return false
		}
	}
	return true
}
