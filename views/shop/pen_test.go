package shop

import (
	"testing"

	"codeberg.org/go-pdf/fpdf"
)

func TestPrintable_KeepsEuropeanNamesAndReplacesEmoji(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Ann Ørsted, Юлия": "Ann Ørsted, Юлия", "Þórdís 🎭": "Þórdís \ufffd"} {
		if got := printable(text); got != want {
			t.Errorf("%q became %q", text, got)
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
