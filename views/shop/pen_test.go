package shop

import (
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/text"
)

func TestPrintable_KeepsEuropeanNamesAndReplacesEmoji(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Ann Ørsted, Юлия": "Ann Ørsted, Юлия", "Þórdís 🎭": "Þórdís \ufffd", "سلام": "\ufeb3\ufefc\ufee1", "مُنظِّم 5": "\ufee3\ufee8\ufec8\ufee2 5", "دار": "\ufea9\ufe8d\ufead"} {
		if got := printable(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestSeen_PutsWordsFromTheRightInTheOrderOfTheEye(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc 12 def": "abc 12 def", "אבג": "גבא", "אבג 18 דה 2033": "2033 הד 18 גבא", "אבג abc 5": "abc 5 גבא", "Order 5 אבג 18 דה end": "Order 5 הד 18 גבא end", "a אב b גד": "a בא b דג",
	} {
		if got := seen(text); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}

func TestPen_GivesEachCharacterAWidthWithinTheLine(t *testing.T) {
	t.Parallel()
	p := newPen(fpdf.New("P", "mm", "A4", ""))
	p.doc.SetFontSize(10)
	for _, r := range "aØЮΩשم李ไहि한\ufffd" {
		if w := p.width(r); w < 0 || w > 5 {
			t.Errorf("%c is %g mm wide", r, w)
		}
	}
	if lines := p.lines([]rune("李小龍李小龍李小龍李小龍李小龍李小龍"), 20, 9); len(lines) < 2 {
		t.Errorf("a long name without spaces is one line: %q", lines)
	}
}

func TestOnPaper_IsEnglishWhereTheFontHasNotTheScript(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"de": "de", "ar": "ar", "el": "el", "ja": "en", "zh": "en"} {
		if got := text.Tag(onPaper(text.With(t.Context(), tag))); got != want {
			t.Errorf("%s is printed in %s, want %s", tag, got, want)
		}
	}
}
