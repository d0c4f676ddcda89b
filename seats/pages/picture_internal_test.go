package pages

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

// drawing is a picture whose corner at the top left is red, and the rest blue.
func drawing(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{20, 40, 200, 255}
			if x < width/4 && y < height/4 {
				c = color.RGBA{220, 30, 20, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func asJPEG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withSegment puts a segment behind the first two bytes of a JPEG.
func withSegment(file []byte, marker byte, content string) []byte {
	size := binary.BigEndian.AppendUint16(nil, uint16(len(content)+2))
	return bytes.Join([][]byte{file[:2], {0xff, marker}, size, []byte(content), file[2:]}, nil)
}

// exif is EXIF with an orientation and a place on earth.
func exif(orientation uint16) string {
	b := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x02\x00")
	b = append(b, 0x12, 0x01, 3, 0, 1, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, orientation)
	b = append(b, 0, 0, 0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0)
	return string(b) + "GPS 48.2082 N 16.3738 E of the photographer"
}

// pngOf is the head of a PNG that claims a size.
func pngOf(width, height uint32, depth byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = append(binary.BigEndian.AppendUint32(head, height), depth, 2, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return append(binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(head)), "\x00\x00\x00\x00IDAT"...)
}

func TestPicture_OthersAreRefusedWithASentence(t *testing.T) {
	t.Parallel()
	var moving bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 600, 400), color.Palette{color.Black, color.White})
	if err := gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{9, 9}}); err != nil {
		t.Fatal(err)
	}
	whole := asJPEG(t, drawing(800, 600))
	for name, file := range map[string]struct {
		content []byte
		says    string
	}{
		"nothing":                          {nil, "Choose a picture"},
		"SVG with a script":                {[]byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "SVG drawings may have scripts"},
		"a GIF that moves":                 {moving.Bytes(), "GIF pictures may move"},
		"a GIF that is a script":           {[]byte(`GIF89a=1;alert(1)//`), "GIF pictures may move"},
		"HEIC":                             {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), "HEIC"},
		"HTML":                             {[]byte("<!doctype html><script>alert(1)</script>"), "no picture"},
		"PDF":                              {[]byte("%PDF-1.7"), "A PDF cannot be read"},
		"a ZIP with a JPEG in it":          {append([]byte("PK\x03\x04"), whole...), "no picture"},
		"a WAV":                            {[]byte("RIFF\x24\x00\x00\x00WAVEfmt "), "broken"},
		"a bomb of 30,000 × 30,000":        {pngOf(30_000, 30_000, 8), "30,000 × 30,000 pixels, which is too much"},
		"a bomb longer than any number":    {pngOf(1<<31-1, 1<<31-1, 8), ""},
		"16 bits a colour":                 {pngOf(7000, 5000, 16), "too much"},
		"a JPEG that is cut off":           {whole[:len(whole)/2], "broken"},
		"the head of a JPEG":               {whole[:3], "broken"},
		"a PNG without its colours":        {pngOf(800, 600, 8), "broken"},
		"a stamp":                          {asPNG(t, drawing(200, 100)), "only 200 pixels wide"},
		"a ribbon":                         {asPNG(t, drawing(2000, 300)), "four times as long"},
		"a file of 13 MB":                  {append(bytes.Clone(whole), make([]byte, 13<<20)...), "larger than 12 MB"},
		"narrow once it is turned upright": {withSegment(asJPEG(t, drawing(800, 400)), 0xe1, exif(6)), "only 400 pixels wide"},
	} {
		var refused *PictureError
		p := &Pages{decoding: semaphore.NewWeighted(1)}
		if _, err := p.make(t.Context(), file.content, leastWidth); !errors.As(err, &refused) || !strings.Contains(refused.Error(), file.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPicture_KeepsNothingOfTheFileButItsColours(t *testing.T) {
	t.Parallel()
	p := &Pages{decoding: semaphore.NewWeighted(1)}
	file := withSegment(withSegment(asJPEG(t, drawing(2000, 1500)), 0xe1, exif(1)), 0xfe, "<script>alert('comment')</script>")
	file = append(file, "PK\x03\x04<?php evil(); ?>"...)
	m, err := p.make(t.Context(), file, leastWidth)
	if err != nil {
		t.Fatal(err)
	}
	if m.width != 1600 || m.height != 1200 || len(m.widths) != 3 || m.widths[0] != 480 || m.widths[2] != 1600 || len(m.hash) != 32 {
		t.Errorf("made %v, %d × %d", m.widths, m.width, m.height)
	}
	for i, made := range m.files {
		for _, secret := range []string{"Exif", "GPS", "script", "PK\x03\x04", "php"} {
			if bytes.Contains(made, []byte(secret)) {
				t.Errorf("the file %d wide has %q", m.widths[i], secret)
			}
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(made))
		if err != nil || c.Width != m.widths[i] || c.Height != m.widths[i]*3/4 {
			t.Errorf("the file %d wide is %d × %d: %v", m.widths[i], c.Width, c.Height, err)
		}
	}
	if !bytes.Contains(file, []byte("GPS")) {
		t.Error("the test has no place in its file")
	}
	again, err := p.make(t.Context(), file, leastWidth)
	if err != nil || again.hash != m.hash {
		t.Errorf("the same picture has another name: %v", err)
	}
}

func TestPicture_StandsAsItsCameraWasHeld(t *testing.T) {
	t.Parallel()
	p := &Pages{decoding: semaphore.NewWeighted(1)}
	// Where the red corner of the file is once the picture is upright: left or right, top or bottom.
	for orientation, corner := range map[uint16][2]float64{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}, 9: {0, 0}} {
		m, err := p.make(t.Context(), withSegment(asJPEG(t, drawing(800, 500)), 0xe1, exif(orientation)), leastWidth)
		if err != nil {
			t.Fatal(orientation, err)
		}
		if tall := m.height > m.width; tall != (orientation >= 5 && orientation <= 8) {
			t.Errorf("orientation %d: %d × %d", orientation, m.width, m.height)
		}
		shown, err := jpeg.Decode(bytes.NewReader(m.files[0]))
		if err != nil {
			t.Fatal(err)
		}
		w, h := float64(shown.Bounds().Dx()), float64(shown.Bounds().Dy())
		r, _, b, _ := shown.At(int(w*(0.1+0.8*corner[0])), int(h*(0.1+0.8*corner[1]))).RGBA()
		if r < b {
			t.Errorf("orientation %d: the red corner is elsewhere", orientation)
		}
	}
}

func TestPicture_WhiteIsBehindWhatIsTransparent(t *testing.T) {
	t.Parallel()
	p := &Pages{decoding: semaphore.NewWeighted(1)}
	m, err := p.make(t.Context(), asPNG(t, image.NewNRGBA(image.Rect(0, 0, 700, 500))), leastWidth)
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := jpeg.Decode(bytes.NewReader(m.files[0]))
	if r, g, b, _ := shown.At(100, 100).RGBA(); min(r, g, b) < 0xf000 {
		t.Errorf("it is %x %x %x", r, g, b)
	}
	if len(m.widths) != 2 || m.widths[1] != 700 {
		t.Errorf("a picture was made larger: %v", m.widths)
	}
}

func TestPicture_OneIsDecodedAtATime(t *testing.T) {
	t.Parallel()
	p := &Pages{decoding: semaphore.NewWeighted(1)}
	if err := p.decoding.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	file := asPNG(t, drawing(600, 400))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.make(ctx, file, leastWidth); !errors.Is(err, context.Canceled) {
		t.Errorf("a second picture did not wait: %v", err)
	}
	done := make(chan error)
	go func() { _, err := p.make(t.Context(), file, leastWidth); done <- err }()
	select {
	case err := <-done:
		t.Fatalf("a second picture did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	p.decoding.Release(1)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func FuzzPicture(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x20Exif\x00\x00MM\x00*\x00\x00\x00\x08\xff\xff"))
	f.Add(pngOf(600, 400, 8))
	f.Add([]byte("RIFF\x24\x00\x00\x00WEBPVP8X"))
	p := &Pages{decoding: semaphore.NewWeighted(1)}
	f.Fuzz(func(t *testing.T, content []byte) {
		var refused *PictureError
		if _, err := p.make(t.Context(), content, leastWidth); err != nil && !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}
