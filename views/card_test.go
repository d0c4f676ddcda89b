package views_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"os"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/seatstest/race"
	"github.com/usherbox/usher/views"
)

func TestCard_IsDrawnForEveryTitle(t *testing.T) {
	t.Parallel()
	photo, err := os.ReadFile("../docs/picture.jpg")
	if err != nil {
		t.Fatal(err)
	}
	titles := []string{"", "The Seagull", "Der zerbrochne Krug – Ein Lustspiel in einem Aufzug", strings.Repeat("Donaudampfschifffahrt", 9), strings.Repeat("a ", 100), "かもめ", "النورس", "Чайка", "Łódź\x00"}
	for i := range race.Rounds(20) {
		titles = append(titles, fmt.Sprint("Evening ", i))
	}
	for i, title := range titles {
		var behind []byte
		if i == 1 {
			behind = photo
		}
		picture, err := views.Card{Seed: title, Title: title, Lines: []string{"Wednesday 9 December 2026, 19:30", "Lindengasse Playhouse, Vienna"}, Photo: behind}.JPEG()
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(picture))
		if err != nil || size.Width != views.CardWidth || size.Height != views.CardHeight || len(picture) > 300<<10 {
			t.Errorf("%s: %+v, %d bytes, %v", title, size, len(picture), err)
		}
	}
}

func TestPosterJPEG_IsDrawnOnceForManyTickets(t *testing.T) {
	t.Parallel()
	draw := func(seed string) []byte {
		picture, err := views.PosterJPEG(seed)
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
	// Of a hundred others, none may take its place, and the first is as it was however many were drawn since.
	first := draw("hamlet")
	for i := range race.Rounds(100) {
		if seed := fmt.Sprint("other ", i); !bytes.Equal(draw(seed), draw(seed)) || bytes.Equal(draw(seed), first) {
			t.Fatalf("the poster of %q is that of another event, or not always the same", seed)
		}
	}
	again := draw("hamlet")
	if !bytes.Equal(again, first) {
		t.Error("the poster of an event changed")
	}
	if &again[0] != &draw("hamlet")[0] {
		t.Error("a poster that is known was drawn again")
	}
}
