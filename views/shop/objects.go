package shop

import (
	"math"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// Objects are the signs of what is in a house and is not a seat, by the roles of icons in plans: paths in a box of 16 by 16.
var Objects = map[string]string{
	"entrance":  "M9.5 2.5H13v11H9.5M2.5 8H9M6.5 5.5L9 8l-2.5 2.5",
	"exit":      "M6.5 2.5H3v11h3.5M6 8h7M10.5 5.5L13 8l-2.5 2.5",
	"bar":       "M2.5 3h11L8 9zM8 9v4.5M5 13.5h6M11 3l2-1.5",
	"toilets":   "M4.5 3.2v0M4.5 6v4M3 6h3M4.5 10L3.5 13.5M4.5 10l1 3.5M11.5 3.2v0M11.5 5.5L9.7 10h3.6zM10.8 10v3.5M12.2 10v3.5M8 2v12",
	"lift":      "M3 2.5h10v11H3zM8 2.5v11M5.5 6.5v3M4.5 7.5l1-1 1 1M10.5 6.5v3M9.5 8.5l1 1 1-1",
	"stairs":    "M2.5 13.5h3v-3h3v-3h3v-3h2.5",
	"cloakroom": "M8 6.5V5.4c1.3-.3 1.6-1 1.6-1.5A1.6 1.6 0 0 0 6.4 4M8 6.5L2.5 11v1.5h11V11z",
}

// sign is the path of an icon.
func sign(s seats.Shape) string { return Objects[s.Role] }

// signBox is where its square begins.
func signBox(s seats.Shape) (x, y string) {
	return Tenth(s.Center.X - s.Size/2), Tenth(s.Center.Y - s.Size/2)
}

// inSquare puts the path of an icon into its square.
func inSquare(s seats.Shape) string {
	x, y := signBox(s)
	return "translate(" + x + " " + y + ") scale(" + strconv.FormatFloat(math.Round(s.Size*10)/160, 'f', 3, 64) + ")"
}
