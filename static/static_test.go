package static

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

func TestEveryFileIsServedForGoodUnderItsHashedName(t *testing.T) {
	t.Parallel()
	for name := range byName {
		w := get(URL(name))
		if w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: status %d with %d bytes", URL(name), w.Code, w.Body.Len())
		}
		for header, want := range map[string]string{
			"Cache-Control": "public, max-age=31536000, immutable", "Content-Type": kinds[name[strings.LastIndex(name, "."):]], "X-Content-Type-Options": "nosniff",
		} {
			if got := w.Header().Get(header); got != want || want == "" {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
}

func TestAChangedByteChangesTheAddress(t *testing.T) {
	t.Parallel()
	for name, hashed := range byName {
		content := bytes.Clone(byHash[hashed].content)
		if again := hashedName(name, content); again != hashed {
			t.Errorf("%s is %s, and %s when asked again", name, hashed, again)
		}
		content[len(content)/2] ^= 1
		if hashedName(name, content) == hashed {
			t.Errorf("%s keeps its address with another byte in it", name)
		}
	}
}

func TestAnUnknownNameIsRefused(t *testing.T) {
	t.Parallel()
	hashed := URL("event.js")
	for _, path := range []string{"/static/", "/static/event.js", "/static/../static.go", "/static/js/event.js", hashed + "x", strings.Replace(hashed, ".", ".0", 1)} {
		if w := get(path); w.Code != http.StatusNotFound || strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, Cache-Control %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("URL of a file that is not there gives an address")
		}
	}()
	URL("nothing.js")
}

// A module that imports what the import map does not have breaks the page of everybody.
func TestEveryImportIsInTheImportMapAndEveryFontIsInTheStyles(t *testing.T) {
	t.Parallel()
	found := 0
	for name := range byName {
		content := string(byHash[byName[name]].content)
		for _, m := range regexp.MustCompile(`(?:\bfrom|\bimport) ?\(?["']([a-z./@][^"']*)["']`).FindAllStringSubmatch(content, -1) {
			found++
			if !strings.Contains(ImportMap(name), `"`+m[1]+`":"/static/`) {
				t.Errorf("%s imports %s, which is not in the import map", name, m[1])
			}
		}
		if strings.HasSuffix(name, ".woff2") && !strings.Contains(CSS(), URL(name)) {
			t.Errorf("the styles do not use %s by its address", name)
		}
	}
	if found < 10 {
		t.Errorf("only %d imports were found: this test sees nothing", found)
	}
}

// What a buyer's browser loads, compressed as it is served. The budgets are those of the design. The pages on
// which one waits, for a room or for a sale, load only their own scripts, and nobody is on them and on the map at once.
const (
	mostScript = 20_000 // bytes, all modules of the map, the checkout and the orders together
	mostRoom   = 6_000  // bytes, all modules of a waiting room
	mostDoor   = 22_000 // bytes, the page of the door; most of it is the reader for browsers that have none, and only they load it
	mostEditor = 40_000 // bytes, the plan editor of those who organize
	mostDesk   = 40_000 // bytes, all modules of the organizers' desk; nobody buys there
	mostStyle  = 8_000  // bytes
)

var ofRooms = map[string]bool{"draw.js": true, "proof.js": true, "room.js": true, "shut.js": true, "stand.js": true, "waitlist.js": true}

// ofEditor tells whether a script or style sheet is of the plan editor, which nobody loads who buys.
func ofEditor(name string) bool { return strings.HasPrefix(name, "editor") }

var ofDoors = map[string]bool{"door.js": true, "worker.js": true, "qr.js": true}

func TestScriptsAndStylesKeepTheirBudgets(t *testing.T) {
	t.Parallel()
	script, room, door, editor, atDesk := 0, 0, 0, 0, 0
	for name := range byName {
		switch size := compressed(t, byHash[byName[name]].content); {
		case ofRooms[name]:
			room += size
		case ofEditor(name):
			editor += size
		case ofDoors[name]: // those who let people in are no buyers
			door += size
		case strings.HasSuffix(name, ".js") && strings.HasPrefix(name, "desk"):
			atDesk += size
		case strings.HasSuffix(name, ".js"):
			script += size
		}
	}
	style := compressed(t, []byte(CSS()))
	t.Logf("editor %d of %d bytes, desk %d of %d", editor, mostEditor, atDesk, mostDesk)
	if editor > mostEditor || atDesk > mostDesk {
		t.Errorf("the editor has %d bytes, at most %d; the desk %d, at most %d", editor, mostEditor, atDesk, mostDesk)
	}
	t.Logf("scripts %d of %d bytes, of rooms %d of %d, of doors %d of %d, styles %d of %d", script, mostScript, room, mostRoom, door, mostDoor, style, mostStyle)
	if script > mostScript || room > mostRoom || door > mostDoor || style > mostStyle {
		t.Errorf("scripts have %d bytes, at most %d; of rooms %d, at most %d; of doors %d, at most %d; styles %d, at most %d", script, mostScript, room, mostRoom, door, mostDoor, style, mostStyle)
	}
}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func TestNoTwoFilesShareAName(t *testing.T) {
	t.Parallel()
	sums := map[[32]byte]string{}
	for name, hashed := range byName {
		sum := sha256.Sum256(byHash[hashed].content)
		if other, ok := sums[sum]; ok {
			t.Errorf("%s and %s are the same file", name, other)
		}
		sums[sum] = name
	}
	if len(byName) != len(byHash) {
		t.Errorf("%d names and %d addresses", len(byName), len(byHash))
	}
}
