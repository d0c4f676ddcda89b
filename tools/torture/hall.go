package main

import (
	"fmt"

	"github.com/usherbox/usher/seats"
)

// The event of a torture is small, so that everybody wants the same seats: rows of one category and an area of another.
const (
	hallRows   = 4
	hallRow    = 10
	hallPlaces = 20
	hallSeats  = hallRows*hallRow + hallPlaces
	hallLimit  = 4 // seats for one person

	eventName = "Torture"
	eventSlug = "torture"
)

func hall() *seats.Plan {
	const wide, high = 20, 24
	outline := func(y0, y1 float64) []seats.Point {
		return []seats.Point{{X: 0, Y: y0}, {X: 800, Y: y0}, {X: 800, Y: y1}, {X: 0, Y: y1}}
	}
	p := &seats.Plan{
		Name: "Torture", Width: 800, Height: 400,
		Categories: []seats.Category{{Key: "A", Name: "Rows"}, {Key: "B", Name: "Places"}},
		Sections: []seats.Section{
			{Name: "Hall", Count: hallRows * hallRow, Outline: outline(0, 150)},
			{Name: "Floor", Area: true, First: hallRows * hallRow, Count: hallPlaces, Outline: outline(200, 400)},
		},
	}
	for i := range hallSeats {
		seat := seats.Seat{ID: fmt.Sprint(i + 1), Number: fmt.Sprint(i%hallRow + 1), X: float64(i%hallRow+1) * wide, Y: float64(i/hallRow+1) * high}
		if i < hallRows*hallRow {
			seat.Row = fmt.Sprint(i/hallRow + 1)
		} else {
			seat.Section, seat.Category, seat.Number, seat.Y = 1, 1, fmt.Sprint(i+1), seat.Y+120
		}
		p.Seats = append(p.Seats, seat)
	}
	return p
}
