package handlers

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"testing"
)

// wireMessages are the messages of the wire format as its own tests have them, in both directions.
func wireMessages(t *testing.T) (list [][]byte) {
	t.Helper()
	text, err := os.ReadFile("../realtime/testdata/wire.json")
	if err != nil {
		t.Fatal(err)
	}
	var messages []struct{ Hex string }
	if err := json.Unmarshal(text, &messages); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		b, err := hex.DecodeString(m.Hex)
		if err != nil || len(b) == 0 {
			t.Fatalf("a message is %q: %v", m.Hex, err)
		}
		list = append(list, b)
	}
	return list
}

// socket opens a socket of a map or of a waiting room, well or badly, and says what the wire format does not know.
func (m *maker) socket(r *rand.Rand) badRequest {
	key, version, more := "AAAAAAAAAAAAAAAAAAAAAA==", "13", ""
	switch r.IntN(8) {
	case 0:
		key = clean(value(r))
	case 1:
		version = one(r, []string{"", "0", "12", "14", "99999999999"})
	case 2:
		more = "Origin: " + one(r, []string{"https://evil.example", "null", "http://localhost:1", clean(value(r))}) + "\r\n"
	case 3:
		more = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99; " + clean(value(r)) + "\r\nSec-WebSocket-Protocol: " + clean(value(r)) + "\r\n"
	}
	where := one(r, []string{"/events/evening/live", "/events/evening/live", "/events/evening/live", "/rooms/tour/live"})
	query := one(r, []string{"", "?epoch=1&v=0", "?format=1", "?format=2", "?as=json", "?epoch=-1&v=-1", "?v=99999999999999999999&epoch=" + url.QueryEscape(value(r))})
	bad := badRequest{method: "GET", last: false}
	bad.bytes = []byte("GET " + where + query + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: " + version +
		"\r\nSec-WebSocket-Key: " + key + "\r\n" + more + "\r\n")
	for range 1 + r.IntN(6) {
		bad.frames = append(bad.frames, frame(r, m.message(r))...)
	}
	return bad
}

// message is one of the wire format, spoiled: another type, another byte, cut off, too long, or two in one.
func (m *maker) message(r *rand.Rand) []byte {
	message := slices.Clone(one(r, m.wire))
	switch r.IntN(8) {
	case 0:
		message[0] = byte(r.IntN(256))
	case 1:
		message[r.IntN(len(message))] ^= byte(1 << r.IntN(8))
	case 2:
		message = message[:r.IntN(len(message))]
	case 3:
		message = append(message, make([]byte, r.IntN(400))...)
	case 4:
		message = append(message, one(r, m.wire)...)
	case 5:
		message = binary.AppendUvarint(message[:min(len(message), 5)], r.Uint64())
	case 6:
		message = []byte(value(r))
	}
	return message
}

// frame is a frame of the WebSocket protocol around a message, well made or not.
func frame(r *rand.Rand, message []byte) []byte {
	op := byte(one(r, []int{0x82, 0x82, 0x82, 0x82, 0x81, 0x88, 0x89, 0x8a, 0x80, 0x02, 0x00, 0xf2, 0x83, 0x8f}))
	var head []byte
	switch n := len(message); {
	case r.IntN(12) == 0: // a length that is not true
		head = binary.BigEndian.AppendUint64([]byte{op, 0x80 | 127}, r.Uint64())
	case n < 126:
		head = []byte{op, 0x80 | byte(n)}
	default:
		head = binary.BigEndian.AppendUint16([]byte{op, 0x80 | 126}, uint16(n))
	}
	if r.IntN(12) == 0 {
		head[1] &^= 0x80 // not masked
		return append(head, message...)
	}
	mask := binary.LittleEndian.AppendUint32(nil, r.Uint32())
	masked := slices.Clone(message)
	for i := range masked {
		masked[i] ^= mask[i%4]
	}
	return slices.Concat(head, mask, masked)
}
