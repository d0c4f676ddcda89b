package views

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/image/vector"
)

// drawPoster draws the SVG of a poster so that it covers an area. It knows what posters are made of: circles, ellipses, and
// paths of lines and half circles.
func drawPoster(on *image.RGBA, area image.Rectangle, svg string) error {
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("views: read a poster: %w", err)
		}
		if shape, ok := token.(xml.StartElement); ok && shape.Name.Local != "svg" {
			paint(on, area, shape)
		}
	}
}

// posters are those that were drawn last, by seed: the tickets of a sale all have the same one.
var posters = struct {
	sync.Mutex
	pictures map[string][]byte
}{pictures: map[string][]byte{}}

// mostPosters is how many posters are remembered. Each has some ten kilobytes.
const mostPosters = 64

// PosterJPEG is the poster of a seed as a picture. Its bytes are not to be changed.
func PosterJPEG(seed string) ([]byte, error) {
	posters.Lock()
	defer posters.Unlock() // of many who ask for one, the first draws it
	if picture, known := posters.pictures[seed]; known {
		return picture, nil
	}
	drawn, err := posterJPEG(seed)
	if err != nil {
		return nil, err
	}
	if len(posters.pictures) >= mostPosters {
		clear(posters.pictures)
	}
	posters.pictures[seed] = drawn
	return drawn, nil
}

func posterJPEG(seed string) ([]byte, error) {
	picture := image.NewRGBA(image.Rect(0, 0, 3*posterWide, 3*posterHigh))
	if err := drawPoster(picture, picture.Rect, posterSVG(seed)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("views: write a poster: %w", err)
	}
	return out.Bytes(), nil
}

// The size in which posters are drawn.
const (
	posterWide = 160.0
	posterHigh = 90.0
)

func paint(on *image.RGBA, area image.Rectangle, shape xml.StartElement) {
	attr := map[string]string{}
	for _, a := range shape.Attr {
		attr[a.Name.Local] = a.Value
	}
	number := func(name string) float64 {
		n, _ := strconv.ParseFloat(attr[name], 64) // 0 if it is not there
		return n
	}
	var points [][2]float64
	switch shape.Name.Local {
	case "circle":
		points = around(number("cx"), number("cy"), number("r"), number("r"), 0, 2*math.Pi)
	case "ellipse":
		points = around(number("cx"), number("cy"), number("rx"), number("ry"), 0, 2*math.Pi)
	case "path":
		points = outline(attr["d"])
	}
	ink := hex(attr["fill"])
	if opacity := number("opacity"); opacity > 0 {
		ink.A = uint8(255 * opacity)
	}
	scale := math.Max(float64(area.Dx())/posterWide, float64(area.Dy())/posterHigh)
	left, top := (float64(area.Dx())-scale*posterWide)/2, (float64(area.Dy())-scale*posterHigh)/2
	r := vector.NewRasterizer(area.Dx(), area.Dy())
	for i, at := range points {
		x, y := float32(left+at[0]*scale), float32(top+at[1]*scale)
		if i == 0 {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.ClosePath()
	r.Draw(on, area, image.NewUniform(ink), image.Point{})
}

// around are points on an ellipse from one angle to another.
func around(x, y, rx, ry, from, to float64) (list [][2]float64) {
	const steps = 90
	for i := range steps + 1 {
		sin, cos := math.Sincos(from + (to-from)*float64(i)/steps)
		list = append(list, [2]float64{x + rx*cos, y + ry*sin})
	}
	return list
}

// outline is a path as points. An arc is half of a circle, clockwise.
func outline(path string) (list [][2]float64) {
	x, y := 0.0, 0.0
	for len(path) > 0 {
		end := strings.IndexAny(path[1:], "MLHVhvaz") + 1
		if end == 0 {
			end = len(path)
		}
		command, n := path[0], numbers(path[1:end])
		path = path[end:]
		switch {
		case command == 'M' && len(n) == 2, command == 'L' && len(n) == 2:
			x, y = n[0], n[1]
		case command == 'H' && len(n) == 1:
			x = n[0]
		case command == 'V' && len(n) == 1:
			y = n[0]
		case command == 'h' && len(n) == 1:
			x += n[0]
		case command == 'v' && len(n) == 1:
			y += n[0]
		case command == 'a' && len(n) == 7:
			radius, angle := math.Hypot(n[5], n[6])/2, math.Atan2(n[6], n[5])
			list = append(list, around(x+n[5]/2, y+n[6]/2, radius, radius, angle+math.Pi, angle+2*math.Pi)...)
			x, y = x+n[5], y+n[6]
		}
		list = append(list, [2]float64{x, y})
	}
	return list
}

// numbers reads numbers with spaces, commas or signs between them.
func numbers(text string) (list []float64) {
	for _, word := range strings.Fields(strings.NewReplacer(",", " ", "-", " -").Replace(text)) {
		n, _ := strconv.ParseFloat(word, 64) // a test draws every poster
		list = append(list, n)
	}
	return list
}
