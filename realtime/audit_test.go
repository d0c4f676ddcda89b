package realtime

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

func TestAudit_DivergedMapIsReplacedAndCounted(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 10), false)
	n.hub.audits = 10 * time.Millisecond
	p := open(t, n, "")
	take(t, n, seats.NewID(), 2)
	p.until(t, 1)
	m := p.awaits(t, "audit")
	epoch, _ := n.sale.At()
	ours := audit(epoch, n.sale.Bitmap())
	if *m.Version != 1 || *m.Sum != le.Uint32(ours[len(ours)-4:]) {
		t.Errorf("the audit says %d of version %d", *m.Sum, *m.Version)
	}

	p.states[9] = 2 // the page diverges
	said := binary.AppendUvarint(append(begin(TypeResync, p.epoch), reasonAudit), uint64(p.version))
	if err := p.conn.Write(t.Context(), websocket.MessageBinary, le.AppendUint32(said, 1)); err != nil {
		t.Fatal(err)
	}
	p.awaits(t, "snap")
	if wrong := p.wrong(n.sale.Snapshot()); wrong != "" || n.hub.Diverged() != 1 {
		t.Errorf("afterwards: %s; counted %d pages, want 1", wrong, n.hub.Diverged())
	}
}

func TestAfterTheLastAuditAQuietHubHasNothingToDo(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 10), false)
	n.hub.audits = 10 * time.Millisecond
	p := open(t, n, "")
	take(t, n, seats.NewID(), 2)
	p.awaits(t, "audit")
	for quiet := false; !quiet; time.Sleep(time.Millisecond) {
		n.hub.mu.Lock()
		topic := n.hub.events[n.sale.Event.ID]
		quiet = !topic.broadcasting && topic.audit == nil && !topic.auditDue
		n.hub.mu.Unlock()
	}
	if n.hub.pace.load != 0 {
		t.Errorf("a quiet hub counts %v of work for each tick", n.hub.pace.load)
	}
}

func TestPeopleMayReadTheMapAndTheSocketAsJSON(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	get := func(query, etag string) (int, string, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(n.url, "ws", "http", 1)+"/map.bin"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("If-None-Match", etag)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body), answer.Header
	}
	want := fmt.Sprintf(`{"type":"snap","epoch":%d,"version":0,"counts":[{"free":3,"held":0,"sold":0,"blocked":0}],"states":"000"}`+"\n", n.sale.Snapshot().Epoch)
	_, asked, header := get("?as=json", "")
	if asked != want || header.Get("Content-Type") != "application/json" {
		t.Errorf("the map reads %s, want %s", asked, want)
	}
	_, _, bytes := get("", "")
	if bytes.Get("ETag") == header.Get("ETag") {
		t.Error("the map and its JSON have the same ETag")
	}
	if status, _, _ := get("", bytes.Get("ETag")); status != http.StatusNotModified {
		t.Errorf("the map that a page already has: status %d, want 304", status)
	}
	if status, _, _ := get("?format=2", ""); status != http.StatusUpgradeRequired {
		t.Errorf("a page of another format: status %d, want 426", status)
	}

	conn, _, err := websocket.Dial(t.Context(), n.url+"/?as=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		kind, text, err := conn.Read(ctx)
		cancel()
		var m message
		if err != nil || kind != websocket.MessageText || json.Unmarshal(text, &m) != nil {
			t.Fatalf("a socket of JSON says %q (%v)", text, err)
		}
		if m.Type == "snap" {
			take(t, n, seats.NewID(), 1)
		}
		if m.Type == "delta" {
			if *m.To != 1 || m.Changes[0] != [2]int{0, 1} {
				t.Errorf("the delta reads %s", text)
			}
			return
		}
	}
}
