package plan

import (
	"math"
	"strings"

	"github.com/usherbox/usher/seats"
)

// draw adds a shape, if it is one that can be drawn.
func (d *draft) draw(s seats.Shape, path []any) error {
	for _, p := range s.Points {
		if !near(p.X, p.Y) {
			return fail(path, tooFar)
		}
	}
	if !near(s.Center.X, s.Center.Y, s.RX, s.RY, s.Size, s.Rotation) {
		return fail(path, tooFar)
	}
	switch s.Kind {
	case "polygon":
		if len(s.Points) < 3 {
			return nil
		}
	case "line":
		if len(s.Points) < 2 {
			return nil
		}
	case "ellipse":
		if s.RX <= 0 || s.RY <= 0 {
			return nil
		}
	case "text":
		if s.Text = cleanName(s.Text, maxText); s.Text == "" || s.Size <= 0 {
			return nil
		}
	}
	d.shapes = append(d.shapes, s)
	return nil
}

// roleOf guesses from a word what a shape is.
func roleOf(word string) string {
	word = strings.ToLower(word)
	for _, stage := range []string{"stage", "bühne", "scène", "escenario", "palco", "screen", "podium"} {
		if strings.Contains(word, stage) {
			return "stage"
		}
	}
	return "other"
}

func rectangle(x, y, width, height float64) []seats.Point {
	return []seats.Point{{X: x, Y: y}, {X: x + width, Y: y}, {X: x + width, Y: y + height}, {X: x, Y: y + height}}
}

// oval is an ellipse as a polygon, for outlines.
func oval(center seats.Point, rx, ry float64) []seats.Point {
	const corners = 48
	points := make([]seats.Point, corners)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		points[i] = seats.Point{X: center.X + rx*cos, Y: center.Y + ry*sin}
	}
	return points
}

func middle(points []seats.Point) (m seats.Point) {
	for _, p := range points {
		m.X += p.X / float64(len(points))
		m.Y += p.Y / float64(len(points))
	}
	return m
}

// turnAround rotates points about a center by degrees, clockwise as y points down.
func turnAround(points []seats.Point, center seats.Point, degrees float64) {
	if degrees == 0 {
		return
	}
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for i, p := range points {
		x, y := p.X-center.X, p.Y-center.Y
		points[i] = seats.Point{X: center.X + x*cos - y*sin, Y: center.Y + x*sin + y*cos}
	}
}
