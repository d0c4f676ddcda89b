package pdf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/views/pdf"
)

// lines is a document with each text on a line of its own.
func lines(language string, texts ...string) []byte {
	doc := pdf.New("Names", language, time.Unix(2e9, 0))
	doc.Page(pdf.A4Width, pdf.A4Height)
	y := 20.0
	for _, words := range texts {
		set, _ := doc.Shape("instrument-sans.ttf", words, false).Lines(40, 1)
		doc.Write(15, y, 12, set[0])
		y += 10
	}
	return doc.Output()
}

// poppler runs a program of Poppler on a PDF, and returns what it writes.
func poppler(t *testing.T, content []byte, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the tests of papers need Poppler (run \"make poppler\"): %v", err)
	}
	file := filepath.Join(t.TempDir(), "paper.pdf")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "PDF", file)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "Syntax") {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// names are those of people, places and plays, by language.
var names = map[string][]string{
	"en": {"Zoë Østergård", "Office “Affluent” fi ffi", "The Seagull, 19:30"},
	"de": {"Käthe Groß-Müßig", "Die Möwe – Straßenfest für 5 €"},
	"el": {"Ωραία Ελένη"}, "ru": {"Юлия Чайковская"}, "vi": {"Nguyễn Thị Hồng Đặng"},
	"ja": {"山田 太郎", "髙橋 﨑", "かもめ 〜 2033年5月19日(水) 19:30", "東京芸術劇場 プレイハウス"},
	"zh": {"李小龙", "國家戲劇院", "海鸥 第5场"}, "ko": {"김민준", "국립극장 해오름극장 5열"},
	"ar": {"محمد الأحمد", "مُنظِّم الحفل", "النورس 18 مايو 2033", "لا إله", "كفتاه The Seagull 5"},
	"fa": {"گلشیفته فراهانی"},
	"he": {"שלום עולם", "שָׁלוֹם", "השחף 18 במאי"},
	"hi": {"हिन्दी", "क्षत्रिय विद्यार्थी", "श्री कृष्ण 5"},
	"th": {"สวัสดีชาวโลก", "น้ำผึ้ง"}, "bn": {"রবীন্দ্রনাথ"}, "ta": {"தமிழ் கோயில்"}, "hy": {"Արամ"}, "ka": {"ნინო"}, "am": {"ሰላም"},
	"te": {"శ్రీనివాస్"}, "kn": {"ಕನ್ನಡ"}, "ml": {"മലയാളം"}, "gu": {"ગુજરાતી"}, "pa": {"ਪੰਜਾਬੀ"}, "si": {"ශ්\u200dරී ලංකා"}, "km": {"ភាសាខ្មែរ"}, "lo": {"ສະບາຍດີ"}, "my": {"မြန်မာ"},
}

func TestDocument_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for language, texts := range names {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			content := lines(language, texts...)
			if folder := os.Getenv("PAPER"); folder != "" {
				_ = os.WriteFile(folder+"/names-"+language+".pdf", content, 0o600)
			}
			read := poppler(t, content, "pdftotext", "PDF", "-")
			read = strings.Map(func(r rune) rune {
				if r >= 0x202a && r <= 0x202e || r == 0x200b {
					return -1 // marks of direction
				}
				return r
			}, read)
			got := strings.FieldsFunc(read, func(r rune) bool { return r == '\n' || r == '\f' })
			for i, want := range texts {
				if i < len(got) && spaced(got[i]) == spaced(want) {
					continue
				}
				t.Errorf("%q is read as %q", want, got)
				break
			}
		})
	}
}

// spaced is a text as it is compared. Poppler puts the space behind a number among words from the right before it, also in what
// browsers print, so spaces around digits do not count.
func spaced(text string) string {
	return aroundDigits.ReplaceAllString(text, "$1")
}

var aroundDigits = regexp.MustCompile(` *([0-9]+) *`)

func TestDocument_EmbedsAPartOfEachFont(t *testing.T) {
	t.Parallel()
	content := lines("en", "Zoë Østergård", "山田 太郎", "محمد", "हिन्दी")
	if len(content) > 20_000 {
		t.Errorf("it has %d bytes", len(content))
	}
	if again := lines("en", "Zoë Østergård", "山田 太郎", "محمد", "हिन्दी"); !bytes.Equal(content, again) {
		t.Error("written again it differs")
	}
	list := strings.Split(strings.TrimSpace(poppler(t, content, "pdffonts", "PDF")), "\n")[2:]
	if len(list) != 4 {
		t.Errorf("it has %d fonts, want 4: %q", len(list), list)
	}
	for _, line := range list {
		if fields := strings.Fields(line); !strings.Contains(line, "CID TrueType") || !strings.Contains(fields[0], "+") || !slices.Equal(fields[len(fields)-5:len(fields)-2], []string{"yes", "yes", "yes"}) {
			t.Errorf("a font is not embedded as a part, with what its letters mean: %s", line)
		}
	}
}

// Readers that know nothing of our fonts draw what FreeType reads of them.
func TestDocument_IsDrawnWithoutComplaint(t *testing.T) {
	t.Parallel()
	for language, texts := range names {
		content := lines(language, texts...)
		if said := poppler(t, content, "pdftoppm", "-r", "40", "PDF", filepath.Join(t.TempDir(), "page")); said != "" {
			t.Errorf("%s: %s", language, said)
		}
	}
}
