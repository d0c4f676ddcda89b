package rush

import (
	"fmt"

	"github.com/usherbox/usher/seats"
)

const (
	hallRow     = 50 // seats
	seatSpacing = 20
	rowSpacing  = 24
)

// Hall is a plan of n seats in rows, all alike; with area they are places without rows.
func Hall(n int, area bool) (*seats.Plan, error) {
	if n < 1 || n > seats.MaxSeats {
		return nil, fmt.Errorf("a hall has 1 to %d seats, not %d", seats.MaxSeats, n)
	}
	rows := (n + hallRow - 1) / hallRow
	width, height := float64((hallRow+1)*seatSpacing), float64((rows+1)*rowSpacing)
	section := seats.Section{Name: "Hall", Area: area, Count: n, Outline: []seats.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}}}
	p := &seats.Plan{
		Name: "Hall", Width: width, Height: height,
		Categories: []seats.Category{{Key: "A", Name: "All seats", Price: 1000}},
		Sections:   []seats.Section{section},
	}
	for i := range n {
		row, number := i/hallRow, i%hallRow
		seat := seats.Seat{ID: fmt.Sprint(i + 1), Number: fmt.Sprint(i + 1), X: float64((number + 1) * seatSpacing), Y: float64((row + 1) * rowSpacing)}
		if !area {
			seat.Row, seat.Number = fmt.Sprint(row+1), fmt.Sprint(number+1)
		}
		p.Seats = append(p.Seats, seat)
	}
	return p, nil
}
