package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/usherbox/usher/seats"
)

var (
	kinds = []string{"polygon", "line", "ellipse", "text"}
	roles = []string{"stage", "table", "wall", "label", "other"}
)

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
		return fmt.Errorf("%q is no kind of shape; there are %q", s.Kind, kinds)
	case !slices.Contains(roles, s.Role):
		return fmt.Errorf("%q is no role of a shape; there are %q", s.Role, roles)
	case !drawable(s.Points) || !finite(s.Center.X, s.Center.Y, s.RX, s.RY, s.Rotation, s.Size):
		return errors.New("it has a number that is no place or size in a drawing")
	case s.Kind == "polygon" && len(s.Points) < 3, s.Kind == "line" && len(s.Points) < 2:
		return fmt.Errorf("a %s needs more points", s.Kind)
	case s.Kind == "ellipse" && (s.RX <= 0 || s.RY <= 0):
		return errors.New("an ellipse needs two radii")
	case s.Kind == "text" && (s.Text == "" || s.Size <= 0):
		return errors.New("a text needs words and a size")
	}
	return checkText("it", s.Text, maxText)
}
