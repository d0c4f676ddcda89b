package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// asksByEmail types an address into the page of a waiting room.
func (p *person) asksByEmail(address string) {
	p.t.Helper()
	if p.device.noScript {
		p.press(p.page.Locator("#tell").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "Email me"}))
	}
	check(p.t, p.page.Locator("#tell").GetByLabel("Email").Fill(address))
	p.press(p.button("Email me"))
	p.sees(p.page.GetByText("We email you when your number is called."))
}

// Two people on phones, one of them without scripts, ask in the lobby to be told by email. Each gets one mail once their number
// is called, with the address of the room. Another one takes the request back, and gets none.
func TestTurn_PeopleOnPhonesAreMailedWhenTheirNumberIsCalled(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "1")
	plain := phone
	plain.noScript = true
	ann, bob, cid := someone(t, boxOffice, "ann", phone), someone(t, boxOffice, "bob", plain), someone(t, boxOffice, "cid", desktop)
	address := func(p *person) string { return p.name + "." + ownAddress(t) }
	for _, p := range []*person{ann, bob, cid} {
		p.joinsRoom(slug)
	}
	for _, p := range []*person{ann, bob, cid} {
		p.sees(p.page.Locator("#tell"))
		if !p.device.noScript { // else it loads itself again meanwhile
			p.inBothLights("room-tell")
		}
		p.asksByEmail(address(p))
		if !p.device.noScript {
			p.inBothLights("room-told")
		}
	}
	cid.press(cid.button("Don’t tell me"))
	cid.sees(cid.button("Email me"))
	boxOffice.usher(t, "room", "set", slug, "--opens", "now", "--slots", "10")
	boxOffice.hasMails(t, 1, "<"+address(ann)+">")
	boxOffice.hasMails(t, 1, "<"+address(bob)+">")
	if n := boxOffice.mails(t, "<"+address(cid)+">"); n != 0 {
		t.Errorf("cid, who took the request back, got %d mails", n)
	}
	if n := boxOffice.mails(t, "/rooms/"+slug); n != 2 {
		t.Errorf("%d mails lead to the room", n)
	}
	bob.visit("/rooms/" + slug)
	bob.press(bob.button("Enter the shop"))
	bob.sees(bob.page.Locator(`a[href="/events/` + slug + `/sections/0"]`).First())
}

// A browser of tests has no push service, so its subscription is made up; the rest is real: the permission, the worker, what it
// shows, and the request.
const madeUpSubscription = `
PushManager.prototype.subscribe = async options => ({toJSON: () => ({endpoint: 'https://push.invalid/1', keys: {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4', auth: 'BTBZMqHH6r4Tts7J_aSIgg'}})})`

func TestTurn_BrowserSubscribesAndShowsWhatItIsTold(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "1")
	ann := someone(t, boxOffice, "ann", phone)
	check(t, ann.context.GrantPermissions([]string{"notifications"}))
	check(t, ann.context.AddInitScript(playwright.Script{Content: playwright.String(madeUpSubscription)}))
	ann.joinsRoom(slug)
	cdp, err := ann.context.NewCDPSession(ann.page)
	check(t, err)
	registered := make(chan string, 9)
	cdp.On("ServiceWorker.workerRegistrationUpdated", func(params map[string]any) {
		if list, ok := params["registrations"].([]any); ok && len(list) > 0 {
			if one, ok := list[0].(map[string]any); ok {
				select {
				case registered <- one["registrationId"].(string):
				default: // one is enough
				}
			}
		}
	})
	_, err = cdp.Send("ServiceWorker.enable", nil)
	check(t, err)
	ann.press(ann.button("Notify me in this browser"))
	ann.sees(ann.page.GetByText("This browser notifies you when your number is called."))
	workers := ann.context.ServiceWorkers()
	if len(workers) != 1 {
		t.Fatalf("%d workers", len(workers))
	}
	_, err = workers[0].Evaluate(`() => { registration.showNotification = async (title, {body, tag}) => { self.shown = title + '|' + body + '|' + tag } }`) // a browser without windows shows none
	check(t, err)
	message, err := json.Marshal(map[string]string{"title": "It is your turn", "body": "A night out", "url": "/rooms/" + slug, "lang": "en", "dir": "ltr"})
	check(t, err)
	_, err = cdp.Send("ServiceWorker.deliverPushMessage", map[string]any{"origin": strings.TrimSuffix(boxOffice.url, "/"), "registrationId": <-registered, "data": string(message)})
	check(t, err)
	eventually(t, 2*patience, "the notification is shown", func() bool {
		shown, err := workers[0].Evaluate(`self.shown`)
		return err == nil && shown == "It is your turn|A night out|/rooms/"+slug
	})
}
