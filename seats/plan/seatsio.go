package plan

import (
	"encoding/json"
	"math"

	"github.com/usherbox/usher/seats"
)

// The parts of a seats.io chart that Usher knows. A chart has one floor, or several.
type (
	seatsioChart struct {
		Name       string `json:"name"`
		Categories struct {
			List []seatsioCategory `json:"list"`
		} `json:"categories"`
		Zones struct {
			List []struct {
				FocalPoint *point `json:"focalPoint"`
			} `json:"list"`
		} `json:"zones"`
		SubChart       *seatsioPart  `json:"subChart"`
		SubChartFloors []seatsioPart `json:"subChartFloors"`
	}
	seatsioCategory struct {
		Key   json.RawMessage `json:"key"`
		Label string          `json:"label"`
		Color string          `json:"color"`
	}
	seatsioPart struct {
		Height     float64          `json:"height"`
		Rows       []seatsioRow     `json:"rows"`
		Tables     []seatsioRow     `json:"tables"`
		Booths     []seatsioObject  `json:"booths"`
		Areas      []seatsioObject  `json:"generalAdmissionAreas"`
		Shapes     []seatsioObject  `json:"shapes"`
		Texts      []seatsioObject  `json:"texts"`
		Sections   []seatsioSection `json:"sections"`
		FocalPoint *point           `json:"focalPoint"`
		Floor      string           `json:"floorName"`
		FloorName  string           `json:"floorDisplayName"`
		Icons      []struct{}       `json:"icons"`
		Images     []struct{}       `json:"imageObjects"`
		Background *struct{}        `json:"backgroundImage"`
	}
	seatsioSection struct {
		Label       json.RawMessage `json:"label"`
		CategoryKey json.RawMessage `json:"categoryKey"`
		Points      []point         `json:"points"`
		TopLeft     point           `json:"topLeft"`
		SubChart    seatsioPart     `json:"subChart"`
	}
	seatsioRow struct { // or a table
		Label         json.RawMessage `json:"label"`
		SectionLabel  string          `json:"sectionLabel"`
		CategoryKey   json.RawMessage `json:"categoryKey"`
		Seats         []seatsioSeat   `json:"seats"`
		Center        *point          `json:"center"`
		Radius        float64         `json:"radius"`
		Type          string          `json:"type"`
		Width         float64         `json:"width"`
		Height        float64         `json:"height"`
		RotationAngle float64         `json:"rotationAngle"`
		BookAsAWhole  bool            `json:"bookAsAWhole"`
	}
	seatsioSeat struct {
		UUID           json.RawMessage `json:"uuid"`
		Label          json.RawMessage `json:"label"`
		CategoryKey    json.RawMessage `json:"categoryKey"`
		X              *float64        `json:"x"`
		Y              *float64        `json:"y"`
		Accessible     bool            `json:"accessible"`
		CompanionSeat  bool            `json:"companionSeat"`
		RestrictedView bool            `json:"restrictedView"`
	}
)

// seatsioReader carries what all levels of a chart need.
type seatsioReader struct {
	*draft
	categories map[string]int
	whole      int // tables, booths and areas that are sold as a whole there
	icons      int
}

func readSeatsio(data []byte) (*draft, error) {
	var file seatsioChart
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	in := &seatsioReader{
		categories: map[string]int{},
		draft:      &draft{name: file.Name, imported: true, idNames: [2]string{"uuid", "label"}},
	}
	if err := in.prices(file.Categories.List); err != nil {
		return nil, err
	}
	if file.SubChart != nil {
		if err := in.floor(file.SubChart, point{}, []any{"subChart"}); err != nil {
			return nil, err
		}
	}
	if err := in.floors(file.SubChartFloors); err != nil {
		return nil, err
	}
	in.leftOut(&file)
	return in.draft, nil
}

// leftOut says what of the chart the plan does not have.
func (in *seatsioReader) leftOut(file *seatsioChart) {
	if in.focus == nil && len(file.Zones.List) > 0 {
		in.warn("The chart has points to look at for its zones (%d); Usher has one for a whole plan, and took none.", len(file.Zones.List))
	}
	if in.whole > 0 {
		in.warn("Tables, booths or areas sold as a whole in the chart: %d. Here each of their places is for sale by itself.", in.whole)
	}
	if in.icons > 0 {
		in.warn("Icons and images were left out: %d.", in.icons)
	}
}

func (in *seatsioReader) prices(list []seatsioCategory) error {
	for i, c := range list {
		path := []any{"categories", "list", i, "key"}
		key, err := label(c.Key, path...)
		if err != nil {
			return err
		}
		if _, twice := in.categories[key]; twice || key == "" {
			return fail(path, "the key %q stands at another category too, or is empty", key)
		}
		in.categories[key] = i
		in.draft.categories = append(in.draft.categories, seats.Category{Key: key, Name: c.Label, Color: hexColor(c.Color)})
	}
	return nil
}

// floors draws floors below each other, each under its name: in the chart they may cover the same ground.
func (in *seatsioReader) floors(floors []seatsioPart) error {
	var at point
	for i := range floors {
		f := &floors[i]
		path := []any{"subChartFloors", i}
		name := f.FloorName
		if name == "" {
			name = f.Floor
		}
		size := math.Max(f.Height/20, 14)
		if err := in.draw(seats.Shape{Kind: "text", Role: "label", Text: name, Size: size, Center: seats.Point{X: at.X, Y: at.Y}}, path); err != nil {
			return err
		}
		at.Y += 2 * size
		if err := in.floor(f, at, path); err != nil {
			return err
		}
		if !near(f.Height) {
			return fail(under(path, "height"), tooFar)
		}
		at.Y += math.Max(f.Height, 0) + 3*size
	}
	return nil
}

// floor reads sections, and collects what stands outside of any as sections of its own.
func (in *seatsioReader) floor(f *seatsioPart, at point, path []any) error {
	if f.FocalPoint != nil && in.focus == nil {
		if !near(f.FocalPoint.X, f.FocalPoint.Y) {
			return fail(under(path, "focalPoint"), tooFar)
		}
		in.focus = &seats.Point{X: at.X + f.FocalPoint.X, Y: at.Y + f.FocalPoint.Y}
	}
	for i := range f.Sections {
		if err := in.section(&f.Sections[i], at, under(path, "sections", i)); err != nil {
			return err
		}
	}
	if err := in.loose(f, at, path); err != nil {
		return err
	}
	if f.Background != nil {
		in.warn("The picture behind the chart was left out.")
	}
	return in.decoration(f, at, "", -1, path)
}
