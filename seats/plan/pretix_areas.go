package plan

import (
	"encoding/json"

	"github.com/usherbox/usher/seats"
)

// pretixArea is something drawn in a zone. It holds no seats.
type pretixArea struct {
	Shape    string  `json:"shape"`
	Rotation float64 `json:"rotation"`
	Position point   `json:"position"`
	Text     *struct {
		Text     json.RawMessage `json:"text"`
		Position point           `json:"position"`
		Size     float64         `json:"size"`
	} `json:"text"`
	Polygon *struct {
		Points []point `json:"points"`
	} `json:"polygon"`
	Rectangle *struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	} `json:"rectangle"`
	Circle *struct {
		Radius float64 `json:"radius"`
	} `json:"circle"`
	Ellipse *struct {
		Radius point `json:"radius"`
	} `json:"ellipse"`
}

// pretixArea draws an area as a shape, and its text on it.
func (d *draft) pretixArea(a pretixArea, zone point, path []any) error {
	at := point{zone.X + a.Position.X, zone.Y + a.Position.Y}
	text := ""
	if a.Text != nil {
		var err error
		if text, err = label(a.Text.Text, under(path, "text", "text")...); err != nil {
			return err
		}
	}
	if s := d.pretixForm(a, at, path); s.Kind != "" {
		s.Role = roleOf(text)
		if err := d.draw(s, path); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	size := a.Text.Size
	if size <= 0 {
		size = 16
	}
	return d.draw(seats.Shape{
		Kind: "text", Role: "label", Text: text, Size: size,
		Center: seats.Point{X: at.X + a.Text.Position.X, Y: at.Y + a.Text.Position.Y},
	}, path)
}

// pretixForm is the shape of an area; none for a text, and for what Usher cannot draw.
func (d *draft) pretixForm(a pretixArea, at point, path []any) (s seats.Shape) {
	switch {
	case a.Shape == "rectangle" && a.Rectangle != nil:
		s = seats.Shape{Kind: "polygon", Points: rectangle(at.X, at.Y, a.Rectangle.Width, a.Rectangle.Height)}
		turnAround(s.Points, middle(s.Points), a.Rotation)
	case a.Shape == "polygon" && a.Polygon != nil && len(a.Polygon.Points) > 2:
		s = seats.Shape{Kind: "polygon"}
		for _, p := range a.Polygon.Points {
			s.Points = append(s.Points, seats.Point{X: at.X + p.X, Y: at.Y + p.Y})
		}
		turnAround(s.Points, seats.Point{X: at.X, Y: at.Y}, a.Rotation)
	case a.Shape == "circle" && a.Circle != nil:
		s = seats.Shape{Kind: "ellipse", Center: seats.Point(at), RX: a.Circle.Radius, RY: a.Circle.Radius}
	case a.Shape == "ellipse" && a.Ellipse != nil:
		s = seats.Shape{Kind: "ellipse", Center: seats.Point(at), RX: a.Ellipse.Radius.X, RY: a.Ellipse.Radius.Y, Rotation: a.Rotation}
	case a.Shape == "text":
	default:
		d.warn("Area %s has a shape Usher does not know (%.40q) and is not drawn.", spell(path), a.Shape)
	}
	return s
}
