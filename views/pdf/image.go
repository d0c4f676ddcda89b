package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
)

// Image is a picture that a document has once, and shows where it is put.
type Image struct {
	Width, Height int // in dots

	entries string // of its dictionary
	content []byte
	place   int
}

// JPEG takes a picture into the document as it is. It has an error if the picture is none, or has four colors.
func (d *Document) JPEG(content []byte) (*Image, error) {
	about, err := jpeg.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("pdf: read a picture: %w", err)
	}
	space := "DeviceRGB"
	switch about.ColorModel {
	case color.GrayModel:
		space = "DeviceGray"
	case color.CMYKModel:
		return nil, fmt.Errorf("pdf: read a picture: it has the colors of a press")
	}
	return d.keep(about.Width, about.Height, fmt.Sprintf("/ColorSpace /%s /BitsPerComponent 8 /Filter /DCTDecode", space), content), nil
}

// Dots takes a picture of two colors into the document: the first one of its palette is white.
func (d *Document) Dots(m *image.Paletted) *Image {
	size := m.Bounds().Size()
	wide := (size.X + 7) / 8
	bits := make([]byte, wide*size.Y)
	for y := range size.Y {
		for x := range size.X {
			if m.ColorIndexAt(m.Rect.Min.X+x, m.Rect.Min.Y+y) == 0 {
				bits[y*wide+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return d.keep(size.X, size.Y, "/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /FlateDecode", deflated(bits))
}

func (d *Document) keep(width, height int, entries string, content []byte) *Image {
	d.images = append(d.images, &Image{Width: width, Height: height, entries: entries, content: content, place: len(d.images)})
	return d.images[len(d.images)-1]
}

// Put shows a picture in a box.
func (d *Document) Put(m *Image, x, y, width, height float64) {
	d.out("q %s 0 0 %s %s cm /I%d Do Q", number(width*mm), number(height*mm), d.at(x, y+height), m.place)
}

// Cover shows a picture in a box, which it fills; what is too much of it is cut off.
func (d *Document) Cover(m *Image, x, y, width, height float64) {
	w, h := width, width*float64(m.Height)/float64(m.Width)
	if h < height {
		w, h = height*float64(m.Width)/float64(m.Height), height
	}
	d.Rectangle(x, y, width, height, 0).Clip(func() { d.Put(m, x-(w-width)/2, y-(h-height)/2, w, h) })
}
