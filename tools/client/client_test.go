package client

import (
	"bufio"
	"context"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/usherbox/usher/tools/client/api"
)

// office is a box office with an event on sale, and returns the address of its API.
func office(t *testing.T, event string) (url string) {
	t.Helper()
	program, data := filepath.Join(t.TempDir(), "usher"), t.TempDir()
	build := exec.Command("go", "build", "-o", program, "./cmd/usher")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for dir := data; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // PostgreSQL may run as another user
		_ = os.Chmod(dir, 0o755)
	}
	data = filepath.Join(data, "data")
	serve := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--data", data, "--demo=false")
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	})
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, at, is := strings.Cut(lines.Text(), "Usher is running at "); is {
			url = strings.TrimSpace(at)
		}
	}
	go func() {
		for lines.Scan() { // so that it never waits for a reader
		}
	}()
	if said, err := exec.Command(program, "event", "create", "--plan", "theatre", "--name", event, "--slug", event, "--price", "A=0", "--confirm-email", "never", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return url + "/api/v1"
}

func TestClients_GeneratedFromTheDescriptionBuyTickets(t *testing.T) {
	url := office(t, "evening")
	t.Run("Go", func(t *testing.T) { buys(t, url) })
	t.Run("TypeScript", func(t *testing.T) {
		out, err := exec.Command("node", "typescript/dist/buy.js", url, "evening").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "bought 2 tickets") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// buys looks at the programme, holds the best two seats, orders them, and is refused what it may not have.
func buys(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	jar, _ := cookiejar.New(nil)
	c, err := api.NewClientWithResponses(url, api.WithHTTPClient(&http.Client{Jar: jar}))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := c.ListEventsWithResponse(ctx, nil)
	if err != nil || listed.JSON200 == nil || len(listed.JSON200.Events) != 1 {
		t.Fatalf("the programme: %v, %s", err, listed.Body)
	}
	slug := listed.JSON200.Events[0].Slug
	two, category := 2, "A"
	held, err := c.ClaimSeatsWithResponse(ctx, slug, nil, api.ClaimRequest{Best: &two, Category: &category})
	if err != nil || held.JSON201 == nil {
		t.Fatalf("the claim: %v, %s", err, held.Body)
	}
	hold := held.JSON201.Hold
	late, err := c.PlaceOrderWithResponse(ctx, slug, api.Wanted{Hold: hold.Id, Seats: hold.Seats[:1], Name: "Ann", Email: "ann@example.org"})
	if err != nil || late.ApplicationproblemJSONDefault == nil || late.ApplicationproblemJSONDefault.Code == "" {
		t.Errorf("an order of other seats than those of the hold: %v, %s", err, late.Body)
	}
	placed, err := c.PlaceOrderWithResponse(ctx, slug, api.Wanted{Hold: hold.Id, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Total: &hold.Total})
	if err != nil || placed.JSON201 == nil {
		t.Fatalf("the order: %v, %s", err, placed.Body)
	}
	order, err := c.GetOrderWithResponse(ctx, placed.JSON201.Order.Code)
	if err != nil || order.JSON200 == nil || len(order.JSON200.Order.Tickets) != 2 {
		t.Errorf("the order again: %v, %s", err, order.Body)
	}
}
