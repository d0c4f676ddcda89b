package shop

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
)

// onFloor reports whether the map shows what is on a floor: the one that was asked for, or all.
func (s Sale) onFloor(floor int) bool { return s.Filter.Floor == 0 || s.Filter.Floor == floor+1 }

// hiddenOff hides what is on another floor than the map shows.
func (s Sale) hiddenOff(floor int) templ.Attributes {
	if s.onFloor(floor) {
		return nil
	}
	return templ.Attributes{"visibility": "hidden"}
}

// FloorPath is the address of this page with another floor on its map. static/js/stage.js makes the same one.
func (s Sale) FloorPath(floor int) templ.SafeURL {
	at := s.MapAt
	if at == "" {
		f := s.Filter
		f.Floor = 0
		at = s.page() + s.query(f)
	}
	with := "?"
	if strings.Contains(at, with) {
		with = "&"
	}
	return templ.SafeURL(at + with + "floor=" + strconv.Itoa(floor+1))
}

// OnFloor is a sale for a page at an address of its own that shows the map: with the floor that was asked for, else the first.
func (s Sale) OnFloor(at string, q url.Values) Sale {
	s.MapAt, s.Filter.Floor = at, FilterOf(s.Plan, q).Floor
	return s
}

// shapesOn are the shapes of a floor.
func (s Sale) shapesOn(floor int) (list []seats.Shape) {
	for _, shape := range s.Plan.Shapes {
		if shape.Floor == floor {
			list = append(list, shape)
		}
	}
	return list
}

// storeys are the positions of the floors; one if the plan has none.
func (s Sale) storeys() int { return max(1, len(s.Plan.Floors)) }

// extentOf is the rectangle around what is drawn on a floor; all of the drawing if the plan has none.
func (s Sale) extentOf(floor int) (low, high seats.Point) {
	if len(s.Plan.Floors) == 0 {
		return seats.Point{}, seats.Point{X: s.Plan.Width, Y: s.Plan.Height}
	}
	return s.Plan.Floors[floor].Low, s.Plan.Floors[floor].High
}

// long is the longer side of the drawing: of its largest floor, as one is seen at a time.
func (s Sale) long() (long float64) {
	for floor := range s.storeys() {
		low, high := s.extentOf(floor)
		long = max(long, high.X-low.X, high.Y-low.Y)
	}
	return long
}

// floorBox is the part of the drawing that shows a floor.
func (s Sale) floorBox(floor int) string {
	low, high := s.extentOf(floor)
	return viewBox(low, high, 2*margin)
}
