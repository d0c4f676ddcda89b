package views_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/views"
)

func TestAQRCodeIsDrawnWithItsQuietZone(t *testing.T) {
	t.Parallel()
	m := views.QRCode(strings.Repeat("Z", 149))
	if m.Box != "0 0 49 49" || !strings.HasPrefix(m.Path, "M4 4h7v1h-7z") {
		t.Errorf("the code is drawn in %s from %.20s", m.Box, m.Path)
	}
	if m := views.QRCode(strings.Repeat("Z", 9999)); m.Path != "" {
		t.Error("a text that is too long was drawn")
	}
}
