package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// badRequest is what is written on a connection.
type badRequest struct {
	method string
	bytes  []byte
	last   bool   // nothing can follow it: what it is to the server is not certain
	frames []byte // after a socket was opened
}

// maker makes bad requests of the description of every address, and of the wire format.
type maker struct {
	operations   []operation
	guest, owner string            // the cookies of an attendee with a hold, and of an organizer
	known        map[string]string // by a path up to a placeholder: what is there
	wire         [][]byte          // messages of the wire format
}

type operation struct {
	method, path string
	params       []*openapi3.Parameter
	body         *openapi3.Schema // nil if none is described
}

func newMaker(doc *openapi3.T, table []route) *maker {
	m := &maker{}
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		op := operation{method: method, path: strings.ReplaceAll(path, "{$}", "")}
		if item := doc.Paths.Value(path); item != nil && item.GetOperation(method) != nil {
			described := item.GetOperation(method)
			for _, p := range slices.Concat(item.Parameters, described.Parameters) {
				op.params = append(op.params, p.Value)
			}
			if described.RequestBody != nil {
				for _, media := range described.RequestBody.Value.Content {
					if media.Schema != nil {
						op.body = media.Schema.Value
					}
				}
			}
		}
		m.operations = append(m.operations, op)
	}
	return m
}

// only leaves the addresses that begin like this.
func (m *maker) only(prefix string) {
	m.operations = slices.DeleteFunc(m.operations, func(op operation) bool { return !strings.HasPrefix(op.path, prefix) })
}

// hostile are values that programs trip over.
var hostile = []string{
	"", "0", "-1", "1e309", "NaN", "99999999999999999999", "null", "true", "[]", "{}", "\x00", "\xff\xfe", "é", "\u202e", "🪑", "..", "../../etc/passwd", "%", "%00", "%zz",
	"' OR 1=1 --", "' OR pg_sleep(60) IS NULL --", "1 OR pg_sleep(60) IS NULL", "(SELECT pg_sleep(60))", "\"", "<script>", "${7*7}", "a\r\nX-Injected: 1", "A/1/1", "Floor", "evening", "1", "2", strings.Repeat("a", 300), strings.Repeat("9", 4000), strings.Repeat("[", 2000),
}

// likely are values that get past the first look.
var likely = []string{"evening", "1", "2", "A", "Floor", "Floor/1", "ann@example.org", "Ann", "2030-01-01", "2030-01-01T10:00", "10.00", "on", "owner", "club", "key-1", "door", "Europe/Berlin"}

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func value(r *rand.Rand) string {
	switch n := r.IntN(20); {
	case n < 9:
		return one(r, likely)
	case n < 19:
		return one(r, hostile)
	}
	b := make([]byte, r.IntN(60))
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return string(b)
}

// make makes one bad request.
func (m *maker) make(r *rand.Rand) badRequest {
	op := one(r, m.operations)
	target := m.target(r, op)
	switch n := r.IntN(20); {
	case n < 2:
		return raw(r, op, target)
	case n < 4 && strings.HasSuffix(op.path, "/live"), n == 4:
		return m.socket(r)
	}
	method, last := op.method, false
	if r.IntN(25) == 0 {
		method, last = one(r, []string{"PUT", "PATCH", "TRACE", "CONNECT", "OPTIONS", "HEAD", "get", "BREW", strings.Repeat("M", 200)}), true
	}
	bad := m.whole(r, op, method, target)
	bad.last = last
	if r.IntN(15) == 0 { // it breaks off
		bad.bytes, bad.last = bad.bytes[:r.IntN(len(bad.bytes))], true
	}
	return bad
}

// whole makes a request of an operation with a body of its schema, good or bad.
func (m *maker) whole(r *rand.Rand, op operation, method, target string) badRequest {
	var header strings.Builder
	body := m.body(r, op, &header)
	m.headers(r, op, &header)
	fmt.Fprintf(&header, "Content-Length: %d\r\n", len(body))
	return badRequest{method: method, bytes: []byte(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + header.String() + "\r\n" + string(body))}
}

// target fills the parameters of a path in, well or badly, and asks for something.
func (m *maker) target(r *rand.Rand, op operation) string {
	path := op.path
	for _, mark := range slices.Backward(placeholder.FindAllStringIndex(path, -1)) {
		word, there := m.known[op.path[:mark[1]]]
		if n := r.IntN(8); n == 0 {
			word = value(r)
		} else if n == 1 || !there {
			word = one(r, []string{"evening", "0", "1", "orders.csv"})
		}
		path = path[:mark[0]] + url.PathEscape(word) + path[mark[1]:]
	}
	query := url.Values{}
	for _, p := range op.params {
		if p.In == "query" && r.IntN(2) == 0 {
			query.Set(p.Name, value(r))
		}
	}
	for range r.IntN(3) {
		query.Set(one(r, []string{"epoch", "v", "format", "as", "page", "q", "from", "state", "ahead", "again", "to", "price", "do", "key", "done"}), value(r))
	}
	if text := query.Encode(); text != "" {
		path += "?" + text
	}
	if r.IntN(30) == 0 {
		path += "?%zz&" + url.PathEscape(value(r)) + ";;="
	}
	return path
}

func clean(s string) string {
	return strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(s)
}

func (m *maker) headers(r *rand.Rand, op operation, to *strings.Builder) {
	write := func(name, value string) { fmt.Fprintf(to, "%s: %s\r\n", name, clean(value)) }
	leaves := strings.Contains(op.path, "session") || strings.Contains(op.path, "password") || op.path == "/desk/teams" || strings.HasSuffix(op.path, "passkeys/options") // they end a session, or change its cookie
	switch {
	case r.IntN(4) == 0:
		write("Cookie", one(r, []string{"usher=" + value(r), "usher-visitor=" + value(r), "usher-place-1=" + value(r), "=;=;" + value(r)}))
	case strings.HasPrefix(op.path, "/desk") && !leaves:
		write("Cookie", m.owner)
	case !leaves:
		write("Cookie", m.guest)
	}
	write("Accept", one(r, []string{"application/json", "text/html", "*/*", "application/json;q=x", value(r)}))
	for range r.IntN(3) {
		name := one(r, []string{
			"Idempotency-Key", "If-None-Match", "Origin", "Sec-Fetch-Site", "X-Forwarded-For", "X-Request-Id", "Accept-Encoding", "Accept-Language", "Range", "If-Modified-Since",
			"Usher-Fragment", "Stripe-Signature", "Authorization", "Content-Encoding", "Expect", "Upgrade", "Connection", "Content-Language", "Forwarded", "X-HTTP-Method-Override",
		})
		write(name, one(r, []string{value(r), "bytes=0-,5-1", "100-continue", "Bearer " + value(r), "gzip;q=0", "203.0.113." + one(r, hostile), "close", "same-origin"}))
	}
}

// body makes a body of what is described, and spoils it.
func (m *maker) body(r *rand.Rand, op operation, header *strings.Builder) []byte {
	if op.method == "GET" && r.IntN(10) > 0 {
		return nil
	}
	thing := generate(r, op.body, 0)
	kind := "application/json"
	text, err := json.Marshal(thing)
	if err != nil {
		text = []byte(value(r))
	}
	if r.IntN(3) == 0 {
		kind = "application/x-www-form-urlencoded"
		form := url.Values{}
		fields, _ := thing.(map[string]any)
		for name, v := range fields {
			form.Set(name, fmt.Sprint(v))
		}
		for range r.IntN(4) {
			form.Add(one(r, []string{"key", "name", "email", "seat", "area", "quantity", "amount", "status", "role", "password", "plan", "do", "reason", "method", "starts", "slug"}), value(r))
		}
		text = []byte(form.Encode())
	}
	switch r.IntN(8) {
	case 0:
		text = text[:r.IntN(len(text)+1)]
	case 1:
		text = append(text, value(r)...)
	case 2:
		for range 1 + r.IntN(4) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = byte(r.IntN(256))
			}
		}
	case 3:
		text = bytes.Repeat([]byte(one(r, []string{"[", `{"a":`, "seat=1&", "\"", "a"})), r.IntN(3000))
	}
	if r.IntN(8) == 0 {
		kind = one(r, []string{"", "text/plain", "multipart/form-data", "multipart/form-data; boundary=x", "application/json; charset=utf-7", "application/x-www-form-urlencoded; x", value(r)})
	}
	fmt.Fprintf(header, "Content-Type: %s\r\n", clean(kind))
	return text
}

// generate makes a value that is as described, or not quite.
func generate(r *rand.Rand, s *openapi3.Schema, depth int) any {
	if s == nil || depth > 4 || r.IntN(8) == 0 {
		return one(r, []any{nil, true, -1, 1e300, 1.5, value(r), []any{}, map[string]any{}, []any{value(r), nil, 3}, map[string]any{value(r): value(r)}})
	}
	switch {
	case s.Type.Is("object"), len(s.Properties) > 0:
		fields := map[string]any{}
		for name, p := range s.Properties {
			if r.IntN(8) > 0 && p.Value != nil {
				fields[name] = generate(r, p.Value, depth+1)
			}
		}
		if r.IntN(10) == 0 {
			fields[value(r)] = value(r)
		}
		return fields
	case s.Type.Is("array") && s.Items != nil:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = generate(r, s.Items.Value, depth+1)
		}
		return list
	case s.Type.Is("integer"), s.Type.Is("number"):
		return one(r, []any{0, 1, 2, 6, -1, 1 << 30, 1 << 53, 1e18, 0.5})
	case s.Type.Is("boolean"):
		return r.IntN(2) == 0
	case len(s.Enum) > 0 && r.IntN(4) > 0:
		return one(r, s.Enum)
	case s.Format == "date-time":
		return one(r, []string{"2030-01-01T00:00:00Z", "0000-00-00T99:00:00Z", "292277026596-12-04T15:30:07Z", value(r)})
	}
	return value(r)
}

// raw is what is hardly HTTP.
func raw(r *rand.Rand, op operation, target string) badRequest {
	text := one(r, []string{
		op.method + " " + value(r) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		op.method + " " + target + "\r\n\r\n",
		op.method + " " + target + " HTTP/9.9\r\nHost: x\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\nHost: x\n\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + value(r) + "\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 20<<10) + "\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n5\r\n{\"a\":\r\n3\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		op.method + " " + target + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, " + clean(value(r)) + "\r\n\r\n",
		op.method + " http://evil.example" + target + " HTTP/1.1\r\nHost: " + clean(value(r)) + "\r\n\r\n",
		op.method + " //evil.example//../" + target + " HTTP/1.0\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + value(r),
		"\r\n\r\n\r\n" + op.method + " " + target + " HTTP/1.1\r\nHost: x\r\n\r\n",
		value(r) + "\r\n\r\n",
		"* * *\r\n\r\n", "",
	})
	return badRequest{method: op.method, bytes: []byte(text), last: true}
}
