package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

func get(path string) *httptest.ResponseRecorder { return getAs(path, "") }

// getAs asks as a browser does that takes these encodings.
func getAs(path, encodings string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept-Encoding", encodings)
	Pack(Handler()).ServeHTTP(w, r)
	return w
}

// What browsers take on a secure connection, and on another.
const secure, plain = "gzip, deflate, br, zstd", "gzip, deflate"

func TestEveryFileIsServedForGoodUnderItsHashedName(t *testing.T) {
	t.Parallel()
	for name := range site().byName {
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

func TestAFileIsTheSameInEveryEncoding(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"buy.js", "room.css", "instrument-sans.woff2"} {
		want := site().file(name).content
		for encodings, encoding := range map[string]string{secure: "br", plain: "gzip", "": "", "br;q=0": "", "gzip, br;q=0.0": "gzip", "br;q=0.5": "br", "brotli": ""} {
			w := getAs(URL(name), encodings)
			if strings.HasSuffix(name, ".woff2") {
				encoding = ""
			}
			if got := w.Header().Get("Content-Encoding"); got != encoding {
				t.Errorf("%s for %q comes as %q, want %q", name, encodings, got, encoding)
			}
			if encoding != "" && !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept-Encoding") {
				t.Errorf("%s for %q: caches are not told that there are others", name, encodings)
			}
			if got, err := io.ReadAll(unpacked(t, encoding, w.Body)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s for %q is another file: %v", name, encodings, err)
			}
		}
	}
}

func unpacked(t *testing.T, encoding string, body io.Reader) io.Reader {
	t.Helper()
	switch encoding {
	case "br":
		return brotli.NewReader(body)
	case "gzip":
		r, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	return body
}

func TestFile_IsCompressedOnce(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("A seat is a row, and that row is the only judge. "), 20_000)
	k := NewImmutable("text/plain", content)
	for _, encodings := range []string{secure, plain} {
		var took []time.Duration
		for range 10 {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", encodings)
			began := time.Now()
			Pack(k).ServeHTTP(w, r)
			took = append(took, time.Since(began))
			if w.Body.Len() > len(content)/10 {
				t.Fatalf("%q: %d bytes of %d", encodings, w.Body.Len(), len(content))
			}
		}
		if again := slices.Min(took[1:]); again > took[0]/5 {
			t.Errorf("%q: the first waited %s, and others %s", encodings, took[0], again)
		}
	}
}

func TestAChangedByteChangesTheAddress(t *testing.T) {
	t.Parallel()
	for name, hashed := range site().byName {
		content := bytes.Clone(site().byHash[hashed].content)
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

var whole = regexp.MustCompile(`(?:\bfrom|\bimport\(?) ?["']((?:usher/|\.{0,2}/)[^"']*)["']`)

// A module that imports what is not there breaks the page of everybody.
func TestAPageNeedsOneScriptAndItsImportMapHasWhatComesLater(t *testing.T) {
	t.Parallel()
	found := 0
	for name := range site().byName {
		content := string(site().file(name).content)
		for _, m := range whole.FindAllStringSubmatch(content, -1) {
			found++
			if !strings.Contains(m[0], "import(") || !strings.Contains(ImportMap(name), `"`+m[1]+`":"/static/`) {
				t.Errorf("%s imports %s, which is not in it and not in the import map", name, m[1])
			}
		}
		if strings.HasSuffix(name, ".woff2") && !strings.Contains(CSS(), URL(name)) {
			t.Errorf("the styles do not use %s by its address", name)
		}
	}
	if found < 3 {
		t.Errorf("only %d imports were found: this test sees nothing", found)
	}
}

// What browsers load, compressed as it is sent. The budgets are those of the design. The pages on which one waits, for a
// room or for a sale, load only their own scripts, and no page loads both.
var budgets = []struct {
	what    string
	most    int // bytes
	scripts []string
}{
	{"the way of a buyer", 20 << 10, []string{"event.js", "buy.js"}},
	{"ticket types and prices that change", 2_000, []string{"types.js"}},
	{"what lies over the map", 8_000, []string{"overlay.js"}},
	{"a waiting room", 6_500, []string{"room.js", "proof.js", "draw.js", "shut.js"}},
	{"work before a waiting room or a claim", 3_000, []string{"work.js", "altcha.js", "challenge.js"}},
	{"notifications of a turn", 1_500, []string{"push.js", "push_worker.js"}},
	{"a sale that is shut", 8_000, []string{"shut.js", "hold.js"}},
	{"a subscription whose seats are held", 4_000, []string{"subscription.js"}},
	{"the dates of a series", 600, []string{"series.js"}},
	{"the element on a site of a team", 3_000, []string{"embed.js"}},
	{"a page in a frame", 600, []string{"frame.js"}},
	{"an account", 1_500, []string{"account.js"}},
	{"signing out", 800, []string{"signout.js"}},
	{"the public log of a sale", 9_000, []string{"log.js"}}, // half of it are the words of what may be wrong
	{"an arena", 1_500, []string{"arena.js"}},
	{"a place in a wait list", 2_000, []string{"waitlist.js"}},
	{"another site that shows an event", 3_000, []string{"embed.js"}},
	{"an event in a frame", 1_000, []string{"frame.js"}},
	{"the door", 22_000, []string{"door.js", "worker.js", "qr.js"}},   // most of it is the reader for browsers that have none, and only they load it
	{"a ticket with a rotating code", 8_500, []string{"rotating.js"}}, // most of it is what draws QR codes, and only such pages load it
	{"the till", 20_000, []string{"till.js"}},
	{"the plan editor", 40_000, []string{"editor.js"}},
	{"a PDF to trace", 520_000, []string{"pdf.js", "pdf_worker.js"}}, // loaded only when a member chooses a PDF; pdf.js 6 grew by 15 %
	{"the search on every page of the desk", 1_500, []string{"palette.js"}},
	{"the desk", 40_000, []string{"desk.js", "desk_seats.js", "desk_prices.js", "desk_passkey.js", "desk_doors.js", "desk_reader.js", "desk_rehearsal.js"}},
}

const mostStyle = 8_000

func TestScriptsAndStylesKeepTheirBudgets(t *testing.T) {
	t.Parallel()
	counted := map[string]bool{}
	for _, b := range budgets {
		sent := map[string]int{}
		for _, name := range b.scripts {
			counted[name] = true
			for _, encodings := range []string{secure, plain} {
				sent[encodings] += getAs(URL(name), encodings).Body.Len()
			}
		}
		t.Logf("%s: %d of %d bytes, %d on a connection that is not secure", b.what, sent[secure], b.most, sent[plain])
		if max(sent[secure], sent[plain]) > b.most {
			t.Errorf("%s has %d bytes, and %d on a connection that is not secure, at most %d", b.what, sent[secure], sent[plain], b.most)
		}
	}
	for name := range site().byName {
		if strings.HasSuffix(name, ".js") && !counted[name] {
			t.Errorf("%s is in no budget", name)
		}
	}
	size := packedLen(t, CSS())
	t.Logf("styles %d of %d bytes", size, mostStyle)
	if size > mostStyle {
		t.Errorf("the styles have %d bytes, at most %d", size, mostStyle)
	}
}

// packedLen is the size of a page's part as it is sent.
func packedLen(t *testing.T, content string) int {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", secure)
	Pack(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kinds[".css"])
		_, _ = io.WriteString(w, content)
	})).ServeHTTP(w, r)
	return w.Body.Len()
}

func TestNoTwoFilesShareAName(t *testing.T) {
	t.Parallel()
	sums := map[[32]byte]string{}
	for name, hashed := range site().byName {
		sum := sha256.Sum256(site().byHash[hashed].content)
		if other, ok := sums[sum]; ok {
			t.Errorf("%s and %s are the same file", name, other)
		}
		sums[sum] = name
	}
	words := map[string]bool{} // scripts with the same messages share a file of them
	for _, address := range site().words {
		words[address] = true
	}
	if len(site().byName)+len(words) != len(site().byHash) {
		t.Errorf("%d names and %d addresses", len(site().byName), len(site().byHash))
	}
}
