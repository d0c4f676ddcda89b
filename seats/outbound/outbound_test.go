package outbound

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestClient_RedirectIsAnAnswer(t *testing.T) {
	t.Parallel()
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	asked := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer asked.Close()
	a, err := Client.Get(asked.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Body.Close(); err != nil || a.StatusCode != http.StatusFound || followed {
		t.Errorf("status %d, followed %v, %v", a.StatusCode, followed, err)
	}
}
