package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/usherbox/usher/seats/text"
)

// Bounds of a picture that is uploaded. They are checked before it is decoded.
const (
	MostPicture = 12 << 20   // bytes of the file
	mostPixels  = 40_000_000 // a camera's picture
	mostMemory  = 240 << 20  // bytes that it takes in memory
	leastWidth  = 480        // pixels
	leastLogo   = 120        // of a logo
	mostRatio   = 4          // of its sides
)

// size is the width of a file that is made of a picture, in pixels, and its quality as a JPEG.
type size struct{ width, quality int }

// widths are the files of a picture on pages. The large ones are for dense screens, where faults are small.
var widths = []size{{480, 78}, {960, 72}, {1600, 68}}

// PictureError says why a file is taken for no picture.
type PictureError struct{ text.Message }

func (e *PictureError) Error() string { return e.String() }

// made is a picture as we keep it.
type made struct {
	hash          string
	width, height int // of the largest file
	widths        []int
	files         [][]byte
}

// format is a kind of file that we read.
type format struct {
	begins string // of its files
	config func([]byte) (image.Config, error)
	decode func([]byte) (image.Image, error)
}

var formats = []format{
	{"\xff\xd8\xff", func(b []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) }},
	{"\x89PNG\r\n\x1a\n", func(b []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) }},
	{"RIFF", func(b []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(b)) }, func(b []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(b)) }},
}

// checkPicture finds out what a file is, and whether it may be decoded. The name of the file and what the browser says of
// it do not matter.
func checkPicture(content []byte, least int) (*format, jpegFacts, error) {
	refuse := func(why text.Message) (*format, jpegFacts, error) { return nil, jpegFacts{}, &PictureError{why} }
	switch {
	case len(content) == 0:
		return refuse(text.Say("Choose a picture."))
	case len(content) > MostPicture:
		return refuse(text.Say("The file is larger than 12 MB. Save the picture in a smaller size."))
	case bytes.HasPrefix(content, []byte("GIF8")):
		return refuse(text.Say("GIF pictures may move, which distracts from the text. Use a JPEG or PNG."))
	case bytes.Contains(content[:min(len(content), 1024)], []byte("<svg")):
		return refuse(text.Say("SVG drawings may have scripts in them. Save the drawing as a PNG."))
	case bytes.HasPrefix(content, []byte("%PDF-")):
		return refuse(text.Say("A PDF cannot be read here. Save its page as a PNG or JPEG."))
	case len(content) > 12 && string(content[4:8]) == "ftyp":
		return refuse(text.Say("HEIC and AVIF pictures cannot be read yet. Save the picture as a JPEG."))
	}
	for i := range formats {
		f := &formats[i]
		if !bytes.HasPrefix(content, []byte(f.begins)) {
			continue
		}
		c, err := f.config(content)
		if err != nil {
			return refuse(text.Say("The picture is broken, or moves. Save it again as a JPEG or PNG."))
		}
		facts := jpegFacts{orientation: 1}
		if i == 0 {
			facts = readJPEG(content)
		}
		width, height := c.Width, c.Height
		if facts.turned() {
			width, height = height, width
		}
		switch {
		case c.Width*c.Height > mostPixels || memory(c, facts) > mostMemory:
			return refuse(text.Say("The picture has %d × %d pixels, which is too much. Make its longer side 4,000 pixels or less.", width, height))
		case width < least:
			return refuse(text.Say("The picture is only %d pixels wide. It needs %d at least, and looks best with %s.", width, least, best(least)))
		case width > mostRatio*height || height > mostRatio*width:
			return refuse(text.Say("The picture is more than four times as long as it is wide. Cut off a part of it."))
		}
		return f, facts, nil
	}
	return refuse(text.Say("This file is no picture. Use a JPEG, PNG or WebP."))
}

// best is how many pixels wide a picture looks best.
func best(least int) string {
	if least == leastLogo {
		return "480"
	}
	return "1,600"
}

// memory is about how many bytes a picture takes while it is decoded.
func memory(c image.Config, facts jpegFacts) int {
	pixel := 4
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		pixel = 8
	case color.YCbCrModel:
		pixel = 3
	}
	if facts.progressive { // all coefficients of three colours are kept until the end
		pixel += 4 * 3
	}
	return c.Width * c.Height * pixel
}

// make makes the files of a picture on pages.
func (p *Pages) make(ctx context.Context, content []byte, least int) (*made, error) {
	return p.sized(ctx, content, least, widths)
}

// sized makes the files of a picture. One is decoded at a time; others wait.
func (p *Pages) sized(ctx context.Context, content []byte, least int, sizes []size) (*made, error) {
	f, facts, err := checkPicture(content, least)
	if err != nil {
		return nil, err
	}
	if err := p.decoding.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer p.decoding.Release(1)
	return encode(f, facts, content, sizes)
}

// encode decodes a picture and makes JPEG files of it, which have nothing of the file but its colours.
func encode(f *format, facts jpegFacts, content []byte, sizes []size) (*made, error) {
	src, err := f.decode(content)
	if err != nil {
		return nil, &PictureError{text.Say("The picture is broken, or moves. Save it again as a JPEG or PNG.")}
	}
	across := src.Bounds().Dx()
	if facts.turned() {
		across = src.Bounds().Dy()
	}
	most := min(across, sizes[len(sizes)-1].width)
	upright := turn(reduce(src, max(1, across/most)), facts.orientation)
	m, sum := &made{}, sha256.New()
	for i, w := range sizes {
		if i > 0 && w.width > most && sizes[i-1].width >= most {
			break
		}
		width := min(w.width, most)
		height := max(1, (upright.Bounds().Dy()*width+upright.Bounds().Dx()/2)/upright.Bounds().Dx())
		small := scaled(upright, width, height)
		var file bytes.Buffer
		if err := jpeg.Encode(&file, small, &jpeg.Options{Quality: w.quality}); err != nil {
			return nil, fmt.Errorf("pages: encode a picture: %w", err)
		}
		_, _ = sum.Write(file.Bytes()) // a hash takes everything
		m.width, m.height, m.widths, m.files = width, height, append(m.widths, width), append(m.files, file.Bytes())
	}
	m.hash = hex.EncodeToString(sum.Sum(nil)[:16])
	return m, nil
}

// reduce makes a picture k times smaller, on white. Each pixel is the mean of k × k.
func reduce(src image.Image, k int) *image.RGBA {
	b := src.Bounds()
	w, h := b.Dx()/k, b.Dy()/k
	out, strip := image.NewRGBA(image.Rect(0, 0, w, h)), image.NewRGBA(image.Rect(0, 0, w*k, k))
	for y := range h {
		draw.Draw(strip, strip.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(strip, strip.Rect, src, image.Pt(b.Min.X, b.Min.Y+y*k), draw.Over)
		for x := range w {
			var sum [3]int
			for dy := range k {
				row := strip.Pix[dy*strip.Stride+x*k*4:]
				for dx := range k {
					sum[0], sum[1], sum[2] = sum[0]+int(row[dx*4]), sum[1]+int(row[dx*4+1]), sum[2]+int(row[dx*4+2])
				}
			}
			n := k * k
			copy(out.Pix[y*out.Stride+x*4:], []byte{byte((sum[0] + n/2) / n), byte((sum[1] + n/2) / n), byte((sum[2] + n/2) / n), 255})
		}
	}
	return out
}

// scaled is a picture of another size. Halving until it is less than twice too large keeps it smooth.
func scaled(src *image.RGBA, width, height int) image.Image {
	if k := src.Rect.Dx() / width; k > 1 {
		src = reduce(src, k)
	}
	if src.Rect.Dx() == width && src.Rect.Dy() == height {
		return src
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.BiLinear.Scale(out, out.Rect, src, src.Rect, draw.Src, nil)
	return out
}

// turn shows a picture as its camera was held, by the orientation that EXIF says: 1 to 8.
func turn(src *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 || orientation > 8 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch orientation {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			copy(out.Pix[ty*out.Stride+tx*4:][:4], src.Pix[y*src.Stride+x*4:][:4])
		}
	}
	return out
}

// jpegFacts is what the head of a JPEG says that the decoder does not.
type jpegFacts struct {
	orientation int // of EXIF
	progressive bool
}

// turned reports whether height and width change places.
func (f jpegFacts) turned() bool { return f.orientation >= 5 }

// readJPEG reads the segments before the picture itself.
func readJPEG(content []byte) jpegFacts {
	facts := jpegFacts{orientation: 1}
	for at := 2; at+4 <= len(content) && content[at] == 0xff; {
		marker, size := content[at+1], int(binary.BigEndian.Uint16(content[at+2:]))
		if marker == 0xff { // a fill byte
			at++
			continue
		}
		if marker == 0xda || size < 2 || at+2+size > len(content) {
			break
		}
		segment := content[at+4 : at+2+size]
		switch {
		case marker == 0xc2:
			facts.progressive = true
		case marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")):
			facts.orientation = orientationIn(segment[6:])
		}
		at += 2 + size
	}
	return facts
}

// orientationIn finds the orientation in EXIF, which is written as TIFF; 1 if there is none.
func orientationIn(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > len(tiff) {
		return 1
	}
	for n := int(order.Uint16(tiff[at:])); n > 0 && at+14 <= len(tiff); n, at = n-1, at+12 {
		if entry := tiff[at+2:]; order.Uint16(entry) == 0x0112 {
			if o := int(order.Uint16(entry[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
	}
	return 1
}
