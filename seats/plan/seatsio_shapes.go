package plan

import "github.com/usherbox/usher/seats"

// decoration reads the areas of a floor or section, and draws its shapes and texts.
func (in *seatsioReader) decoration(f *seatsioPart, at point, section string, category int, path []any) error {
	for i := range f.Areas {
		if err := in.area(&f.Areas[i], at, section, category, under(path, "generalAdmissionAreas", i)); err != nil {
			return err
		}
	}
	for i := range f.Shapes {
		if err := in.shape(&f.Shapes[i], at, under(path, "shapes", i)); err != nil {
			return err
		}
	}
	for i := range f.Texts {
		if err := in.text(&f.Texts[i], at, under(path, "texts", i)); err != nil {
			return err
		}
	}
	in.icons += len(f.Icons) + len(f.Images)
	return nil
}

func (in *seatsioReader) shape(o *seatsioObject, at point, path []any) error {
	words, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return err
	}
	role := roleOf(o.SmartType)
	if role == "other" {
		role = roleOf(words)
	}
	polygon, round, ok := o.form(at)
	s := seats.Shape{Kind: "polygon", Role: role, Points: polygon}
	switch {
	case !ok:
		in.warn("Shape %s has a form Usher does not know (%.40q) and is not drawn.", spell(path), o.Type)
		return nil
	case round != nil:
		s = *round
		s.Role = role
	case o.Type == "line" || o.Type == "polyline":
		s.Kind = "line"
	}
	if err := in.draw(s, path); err != nil || words == "" {
		return err
	}
	size := o.LabelSize
	if size <= 0 {
		size = 16
	}
	return in.draw(seats.Shape{Kind: "text", Role: "label", Text: words, Size: size, Center: middle(polygon)}, path)
}

func (in *seatsioReader) text(o *seatsioObject, at point, path []any) error {
	words, err := label(o.Text, under(path, "text")...)
	if err != nil {
		return err
	}
	if words == "" {
		if words, err = label(o.Label, under(path, "label")...); err != nil {
			return err
		}
	}
	center := o.center(at)
	if center == nil {
		in.warn("Text %s has no position and is not drawn.", spell(path))
		return nil
	}
	size := o.TextSize
	if size <= 0 {
		size = 16
	}
	return in.draw(seats.Shape{Kind: "text", Role: "label", Text: words, Size: size, Center: *center, Rotation: o.RotationAngle}, path)
}

// tabletop draws the table its seats stand around.
func (in *seatsioReader) tabletop(t *seatsioRow, at point, path []any) error {
	in.whole += countIf(t.BookAsAWhole)
	if t.Center == nil {
		return nil
	}
	center := seats.Point{X: at.X + t.Center.X, Y: at.Y + t.Center.Y}
	if t.Width > 0 && t.Height > 0 {
		points := rectangle(center.X-t.Width/2, center.Y-t.Height/2, t.Width, t.Height)
		turnAround(points, center, t.RotationAngle)
		return in.draw(seats.Shape{Kind: "polygon", Role: "table", Points: points}, path)
	}
	return in.draw(seats.Shape{Kind: "ellipse", Role: "table", Center: center, RX: t.Radius, RY: t.Radius}, path)
}
