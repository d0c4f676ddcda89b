package handlers

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
)

func TestTheCookieOfANewcomerIsTheOneTheSessionManagerWrites(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://localhost:8080", "https://tickets.example.org"} {
		h := newHandlers(Config{PublicURL: url})
		ctx, err := h.Sessions.Load(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(web.SessionLength + 500*time.Millisecond)
		ours, theirs := httptest.NewRecorder(), httptest.NewRecorder()
		h.Welcome(ours, "a-token_1", end)
		h.Sessions.WriteSessionCookie(ctx, theirs, "a-token_1", end)
		before, after, _ := strings.Cut(theirs.Header().Get("Set-Cookie"), "Expires=")
		_, after, _ = strings.Cut(after, "; ")
		if got, want := ours.Header().Get("Set-Cookie"), before+after; got != want || !strings.Contains(got, "HttpOnly") || !strings.Contains(got, "SameSite=Lax") {
			t.Errorf("%s: %q is not %q", url, got, want)
		}
	}
}

func TestANewcomersSessionIsWrittenAsAnyOther(t *testing.T) {
	t.Parallel()
	end, holder := time.Now().Add(web.SessionLength).UTC(), seats.NewID()
	want, err := web.Codec{}.Encode(end, map[string]any{web.HolderKey: holder.String()})
	if err != nil {
		t.Fatal(err)
	}
	if got := web.NewRecord(end, holder); string(got) != string(want) {
		t.Errorf("%s is not %s", got, want)
	}
}
