package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// sends sends requests with an API key: "METHOD path body".
func (o *office) sends(t *testing.T, key string, requests ...string) {
	t.Helper()
	for _, line := range requests {
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(body))
		check(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		if body != "" {
			r.Header.Set("Idempotency-Key", "one")
		}
		a, err := http.DefaultClient.Do(r)
		check(t, err)
		check(t, a.Body.Close())
	}
}

func TestRequestLog_ADeveloperFindsTheMistakeOfAProgram(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--price", "A=45", "--confirm-email", "never")
	owner := o.owner(t)
	for i, d := range walked(desktop) {
		ann := someone(t, o, "ann"+d.String(), d)
		ann.entersDesk(owner)
		if i == 0 {
			ann.visit("/desk/keys")
			ann.fills("Purpose", "Kiosk in the foyer")
			check(t, ann.page.GetByText("sell at the box office and through").Check())
			ann.press(ann.button("Make the key"))
			key, err := ann.page.Locator(".made code").TextContent()
			check(t, err)
			sale := `POST /desk/events/` + slug + `/sales {"seat":["Stalls/C/12"],"method":"cash","name":"Eve"}`
			o.sends(t, strings.TrimSpace(key), "GET /desk/events/"+slug, "GET /desk/events/nothing", sale, sale,
				`POST /desk/events/`+slug+`/sales {"seat":["Stalls/C/14"],"method":"cash","name":"Eve","email":"eve@"}`,
				`POST /desk/events/`+slug+`/status {"status":"paused"}`, `POST /events/`+slug+`/claims {"seats":["Stalls/C/12"]}`)
		}
		ann.visit("/desk/keys")
		ann.inBothLights("keys-used")
		ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Requests with the key Kiosk in the foyer"}))
		ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Request log", Level: playwright.Int(1)}))
		ann.sees(ann.page.GetByText("Repeat: first answer sent again"))
		ann.sees(ann.page.GetByText("There is nothing at this address for you."))
		ann.inBothLights("request-log")
		_, err := ann.page.GetByLabel("Answer").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("4xx")})
		check(t, err)
		ann.press(ann.button("Show"))
		ann.sees(ann.page.GetByText("Your role in this team does not allow that."))
		if n, err := ann.page.GetByText("Repeat: first answer sent again").Count(); err != nil || n != 0 {
			t.Errorf("the refusals have %d requests that were done, %v", n, err)
		}
		ann.visit("/desk/hooks")
		ann.inBothLights("hooks-kinds")
	}
}
