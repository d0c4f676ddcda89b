package plan

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// seatsioObject is a booth, an area, a shape or a text: something with a label and a form.
type seatsioObject struct {
	UUID          json.RawMessage `json:"uuid"`
	Label         json.RawMessage `json:"label"`
	Text          json.RawMessage `json:"text"`
	CategoryKey   json.RawMessage `json:"categoryKey"`
	Capacity      *int            `json:"capacity"`
	BookAsAWhole  bool            `json:"bookAsAWhole"`
	Type          string          `json:"type"`
	SmartType     string          `json:"smartType"`
	Center        *point          `json:"center"`
	X             *float64        `json:"x"`
	Y             *float64        `json:"y"`
	Points        []point         `json:"points"`
	Width         float64         `json:"width"`
	Height        float64         `json:"height"`
	Radius        float64         `json:"radius"`
	Radius1       float64         `json:"radius1"`
	Radius2       float64         `json:"radius2"`
	RotationAngle float64         `json:"rotationAngle"`
	TextSize      float64         `json:"textSize"`
	LabelSize     float64         `json:"labelSize"`
}

// form is the polygon of an object, or the ellipse it is; ok is false if it has neither.
func (o *seatsioObject) form(at point) (polygon []seats.Point, round *seats.Shape, ok bool) {
	center := o.center(at)
	if len(o.Points) > 0 {
		for _, p := range o.Points {
			polygon = append(polygon, seats.Point{X: at.X + p.X, Y: at.Y + p.Y})
		}
		turnAround(polygon, middle(polygon), o.RotationAngle)
		return polygon, nil, len(polygon) > 2
	}
	if center == nil {
		return nil, nil, false
	}
	rx, ry := o.Radius1, o.Radius2
	if rx == 0 {
		rx = o.Radius
	}
	if ry == 0 {
		ry = rx
	}
	switch {
	case rx > 0:
		polygon = oval(*center, rx, ry)
		round = &seats.Shape{Kind: "ellipse", Center: *center, RX: rx, RY: ry, Rotation: o.RotationAngle}
	case o.Width > 0 && o.Height > 0:
		polygon = rectangle(center.X-o.Width/2, center.Y-o.Height/2, o.Width, o.Height)
	default:
		return nil, nil, false
	}
	turnAround(polygon, *center, o.RotationAngle)
	return polygon, round, true
}

func (o *seatsioObject) center(at point) *seats.Point {
	switch {
	case o.Center != nil:
		return &seats.Point{X: at.X + o.Center.X, Y: at.Y + o.Center.Y}
	case o.X != nil && o.Y != nil:
		return &seats.Point{X: at.X + *o.X, Y: at.Y + *o.Y}
	}
	return nil
}

// booth is one place, drawn as large as it is.
func (in *seatsioReader) booth(o *seatsioObject, at point, category int, path []any) (draftRow, error) {
	r := draftRow{table: true, path: path}
	name, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return r, err
	}
	id, err := label(o.UUID, under(path, "uuid")...)
	if err != nil {
		return r, err
	}
	if category, err = in.category(o.CategoryKey, category, path); err != nil {
		return r, err
	}
	polygon, _, ok := o.form(at)
	center := o.center(at)
	if center == nil && ok {
		m := middle(polygon)
		center = &m
	}
	switch {
	case category < 0:
		return r, fail(path, "the booth has no category; give it one in the chart")
	case center == nil:
		return r, fail(path, "the booth has no position")
	case !near(center.X, center.Y):
		return r, fail(path, tooFar)
	}
	if ok {
		if err := in.draw(seats.Shape{Kind: "polygon", Role: "table", Points: polygon}, path); err != nil {
			return r, err
		}
	}
	r.label = name
	r.seats = []draftSeat{{ids: []string{id}, number: "1", category: category, x: center.X, y: center.Y}}
	return r, in.room(1, path...)
}

// area is a section of places without labels, laid out inside its form.
func (in *seatsioReader) area(o *seatsioObject, at point, section string, category int, path []any) error {
	name, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return err
	}
	if section != "" {
		name = strings.TrimSpace(section + " " + name)
	}
	id, err := label(o.UUID, under(path, "uuid")...)
	if err != nil {
		return err
	}
	if category, err = in.category(o.CategoryKey, category, path); err != nil {
		return err
	}
	polygon, _, ok := o.form(at)
	switch {
	case category < 0:
		return fail(path, "the area has no category; give it one in the chart")
	case o.Capacity == nil || *o.Capacity < 1:
		return fail(under(path, "capacity"), "the area needs a capacity of at least 1")
	case !ok:
		return fail(path, "the area has no form Usher knows: a polygon, a rectangle or a circle")
	}
	if slices.ContainsFunc(polygon, func(p seats.Point) bool { return !near(p.X, p.Y) }) {
		return fail(path, tooFar)
	}
	if err := in.room(*o.Capacity, under(path, "capacity")...); err != nil {
		return err
	}
	in.whole += countIf(o.BookAsAWhole)
	row := draftRow{path: path}
	for i, p := range fill(polygon, *o.Capacity) {
		s := draftSeat{number: strconv.Itoa(i + 1), category: category, x: p.X, y: p.Y}
		if id != "" {
			s.ids = []string{id + "/" + s.number}
		}
		row.seats = append(row.seats, s)
	}
	in.sections = append(in.sections, draftSection{name: name, area: true, outline: polygon, rows: []draftRow{row}})
	return nil
}

func countIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
