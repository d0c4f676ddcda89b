package shop

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/static"
)

type drawnCategory struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Price int64  `json:"price"`
}

type drawnShape struct {
	Kind     string   `json:"kind"`
	Role     string   `json:"role"`
	Points   [][2]int `json:"points,omitempty"`
	Center   [2]int   `json:"center"`
	RX       int      `json:"rx,omitempty"`
	RY       int      `json:"ry,omitempty"`
	Rotation float64  `json:"rotation,omitempty"`
	Text     string   `json:"text,omitempty"`
	Size     int      `json:"size,omitempty"`
}

// drawnRow is one row of seats: where they are as differences of differences, which are small and mostly zero.
type drawnRow struct {
	Row     string         `json:"row"`
	Numbers any            `json:"numbers"` // "1-24", or a list
	X       []int          `json:"x"`
	Y       []int          `json:"y"`
	C       []int          `json:"c"` // category, how many, category, how many…
	F       map[string]int `json:"f,omitempty"`
	Whole   bool           `json:"whole,omitempty"` // its seats are sold together only
	Party   *[2]int        `json:"party,omitempty"` // the least and the most seats that a party has there
}

type drawnSection struct {
	Name    string     `json:"name"`
	Area    bool       `json:"area"`
	First   int        `json:"first"`
	Count   int        `json:"count"`
	Outline [][2]int   `json:"outline"`
	Rows    []drawnRow `json:"rows,omitempty"`
	Floor   int        `json:"floor,omitempty"`
}

type drawnPlan struct {
	W          int             `json:"w"`
	H          int             `json:"h"`
	Focus      *[2]int         `json:"focus,omitempty"`
	Categories []drawnCategory `json:"categories"`
	Shapes     []drawnShape    `json:"shapes"`
	Sections   []drawnSection  `json:"sections"`
	Floors     []string        `json:"floors,omitempty"`
}

// Geometry answers GET /events/{slug}/geometry/{hash}.json: the drawing. It never changes under its address.
func (h *Handlers) Geometry(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if r.PathValue("file") != s.Event.PlanHash+".json" {
		return web.ErrNoPage
	}
	kept, ok := h.geometries.Load(s.Event.PlanHash)
	if !ok {
		made, err := json.Marshal(draw(s.Plan))
		if err != nil {
			return err
		}
		kept, _ = h.geometries.LoadOrStore(s.Event.PlanHash, static.NewImmutable("application/json; charset=utf-8", made))
	}
	kept.(*static.Immutable).ServeHTTP(w, r)
	return nil
}

// DeskGeometry answers GET /desk/events/{slug}/geometry.json: the drawing for members, because that of a draft is not public.
func (h *Handlers) DeskGeometry(w http.ResponseWriter, s *seats.Sale) error {
	return web.WriteJSON(w, http.StatusOK, draw(s.Plan))
}

func tenths(v float64) int { return int(math.Round(v * 10)) }

func tenthsOf(points []seats.Point) [][2]int {
	list := make([][2]int, len(points))
	for i, p := range points {
		list[i] = [2]int{tenths(p.X), tenths(p.Y)}
	}
	return list
}

func draw(p *seats.Plan) drawnPlan {
	d := drawnPlan{W: tenths(p.Width), H: tenths(p.Height), Shapes: []drawnShape{}}
	if p.Focus != nil {
		d.Focus = &[2]int{tenths(p.Focus.X), tenths(p.Focus.Y)}
	}
	for _, f := range p.Floors {
		d.Floors = append(d.Floors, f.Name)
	}
	for _, c := range p.Categories {
		d.Categories = append(d.Categories, drawnCategory{c.Key, c.Name, c.Price})
	}
	for _, s := range p.Shapes {
		d.Shapes = append(d.Shapes, drawnShape{
			Kind: s.Kind, Role: s.Role, Points: tenthsOf(s.Points), Center: [2]int{tenths(s.Center.X), tenths(s.Center.Y)},
			RX: tenths(s.RX), RY: tenths(s.RY), Rotation: s.Rotation, Text: s.Text, Size: tenths(s.Size),
		})
	}
	whole, shared := p.WholeRows(), p.SharedRows()
	for i, s := range p.Sections {
		section := drawnSection{Name: s.Name, Area: s.Area, First: s.First, Count: s.Count, Outline: tenthsOf(s.Outline), Floor: s.Floor}
		for idx := s.First; !s.Area && idx < s.First+s.Count; {
			end := idx + 1
			for end < s.First+s.Count && p.Seats[end].Row == p.Seats[idx].Row {
				end++
			}
			row := drawRow(p.Seats[idx:end])
			at := seats.WholeRow{Section: i, Row: row.Row}
			row.Whole = whole[at]
			if r := shared[at]; r != nil {
				row.Party = &[2]int{r.Least, r.Most}
			}
			section.Rows = append(section.Rows, row)
			idx = end
		}
		d.Sections = append(d.Sections, section)
	}
	return d
}

func drawRow(row []seats.Seat) drawnRow {
	d := drawnRow{Row: row[0].Row, Numbers: numbers(row)}
	var lastX, lastY, stepX, stepY int
	for i := range row {
		x, y := tenths(row[i].X), tenths(row[i].Y)
		if i == 0 {
			d.X, d.Y = append(d.X, x), append(d.Y, y)
		} else {
			d.X, d.Y = append(d.X, x-lastX-stepX), append(d.Y, y-lastY-stepY)
			stepX, stepY = x-lastX, y-lastY
		}
		lastX, lastY = x, y
		if n := len(d.C); n > 0 && d.C[n-2] == row[i].Category {
			d.C[n-1]++
		} else {
			d.C = append(d.C, row[i].Category, 1)
		}
		if row[i].Flags != 0 {
			if d.F == nil {
				d.F = map[string]int{}
			}
			d.F[strconv.Itoa(i)] = int(row[i].Flags)
		}
	}
	return d
}

// numbers writes "1-24" for seats that count up by one, else every number.
func numbers(row []seats.Seat) any {
	list := make([]string, len(row))
	first, err := strconv.Atoi(row[0].Number)
	run := err == nil
	for i := range row {
		list[i] = row[i].Number
		run = run && row[i].Number == strconv.Itoa(first+i)
	}
	if run {
		return strings.Join([]string{list[0], list[len(list)-1]}, "-")
	}
	return list
}
