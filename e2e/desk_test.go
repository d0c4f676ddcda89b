package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" // as authenticator apps do
	"encoding/base32"
	bytesof "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// deskPassword is that of every organizer of these tests.
const deskPassword = "three plain words"

var (
	setupLink      = regexp.MustCompile(`/desk/setup/[0-9A-Z]{26}`)
	invitationLink = regexp.MustCompile(`/desk/invitations/[0-9A-Z]{26}`)
	passwordLink   = regexp.MustCompile(`/desk/password/[0-9A-Z]{26}`)
)

var ownerOnce sync.Mutex

// owner makes sure that a box office has its first organizer, and returns their address.
func (o *office) owner(t *testing.T) (email string) {
	t.Helper()
	ownerOnce.Lock()
	defer ownerOnce.Unlock()
	email = "owner@example.org"
	out, err := o.try(t.Context(), "organizer", "link")
	if err != nil && strings.Contains(out, "an owner already") {
		return email
	}
	check(t, err)
	status, _ := someProgram(t, o).ask("POST", setupLink.FindString(out), map[string]string{"name": "Olga Owner", "email": email, "password": deskPassword})
	if status != http.StatusNoContent {
		t.Fatalf("the set-up link answers %d", status)
	}
	return email
}

// printedLink is the set-up link that the shell prints; serve says only how to have it where what it says is kept.
func (o *office) printedLink(t *testing.T) (link string) {
	t.Helper()
	eventually(t, patience, "serve to say that there is no organizer", func() bool { return strings.Contains(o.log.String(), "usher organizer link") })
	if setupLink.MatchString(o.log.String()) {
		t.Fatal("the set-up link is in the log of serve")
	}
	return setupLink.FindString(o.usher(t, "organizer", "link"))
}

// organizer adds a member to the first team with a role, and returns their email address.
func (o *office) organizer(t *testing.T, name, role string) (email string) {
	t.Helper()
	o.owner(t)
	return o.invited(t, name, role)
}

// invited adds a member by an invitation, with further flags of the command.
func (o *office) invited(t *testing.T, name, role string, more ...string) (email string) {
	t.Helper()
	email = strings.ToLower(regexp.MustCompile("[^A-Za-z0-9]+").ReplaceAllString(t.Name()+"."+name, "-")) + "@example.org"
	link := invitationLink.FindString(o.usher(t, append([]string{"organizer", "link", email, "--role", role}, more...)...))
	status, _ := someProgram(t, o).ask("POST", link, map[string]string{"name": name, "password": deskPassword})
	if status != http.StatusNoContent {
		t.Fatalf("the invitation answers %d", status)
	}
	return email
}

// atDesk sends a form of the desk as the owner, or gets a page without a form, and returns the answer.
func (o *office) atDesk(t *testing.T, path string, form map[string]any) string {
	t.Helper()
	owner := someProgram(t, o)
	if status, _ := owner.ask("POST", "/desk/session", map[string]string{"email": o.owner(t), "password": deskPassword}); status != http.StatusNoContent {
		t.Fatalf("the owner's session answers %d", status)
	}
	method, body := http.MethodGet, []byte(nil)
	if form != nil {
		method, form["key"] = http.MethodPost, rand.Text()
		var err error
		body, err = json.Marshal(form)
		check(t, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, o.url+"/desk/"+path, bytes.NewReader(body))
	check(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	a, err := owner.client.Do(r)
	check(t, err)
	defer func() { _ = a.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(a.Body)
	check(t, err)
	if a.StatusCode >= 300 {
		t.Fatalf("/desk/%s answers %d: %s", path, a.StatusCode, text)
	}
	return string(text)
}

// stranger is the manager of another team, at the desk.
func (o *office) stranger(t *testing.T) *person {
	t.Helper()
	owner := someProgram(t, o)
	if status, _ := owner.ask("POST", "/desk/session", map[string]string{"email": o.owner(t), "password": deskPassword}); status != http.StatusNoContent {
		t.Fatalf("the owner's session answers %d", status)
	}
	if status, _ := owner.ask("POST", "/desk/teams", map[string]string{"name": "Another theatre", "key": t.Name()}); status != http.StatusNoContent {
		t.Fatalf("another team answers %d", status)
	}
	email := o.invited(t, "stranger", "manager", "--team", "Another theatre")
	p := someone(t, o, "stranger", desktop)
	p.entersDesk(email)
	return p
}

// entersDesk signs in at the desk with the usual password and waits for the page they wanted.
func (p *person) entersDesk(email string) {
	p.t.Helper()
	p.visit("/desk/session")
	p.givesPassword(email, deskPassword)
	p.sees(p.page.Locator(".top .here"))
}

func (p *person) givesPassword(email, password string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Email").Fill(email))
	check(p.t, p.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Password"}).Fill(password))
	p.press(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Sign in", Exact: playwright.Bool(true)}))
}

// leavesDesk signs out.
func (p *person) leavesDesk() {
	p.t.Helper()
	p.press(p.page.Locator(".here summary"))
	p.press(p.page.Locator(".here").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Sign out"}))
	p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sign in to your desk"}))
}

// mailed waits for a mail to an address and returns the first match in it.
func (o *office) mailed(t *testing.T, email string, want *regexp.Regexp) (found string) {
	t.Helper()
	eventually(t, 2*patience, "a mail with a link to "+email, func() bool {
		files, err := filepath.Glob(filepath.Join(o.data, "mail", "*.eml"))
		check(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			check(t, err)
			whole := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "=\n", "")
			if match := want.FindString(whole); match != "" && strings.Contains(whole, "<"+email+">") {
				found = match
			}
		}
		return found != ""
	})
	return found
}

func TestTheFirstOrganizerSetsTheDeskUpInvitesOthersAndTheyWorkTogether(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"desktop": desktop, "phone without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre")
			link := o.printedLink(t)
			ann, bob := someone(t, o, "ann", d), someone(t, o, "bob", d)
			ann.expect("status of 4(03|04|22)")
			bob.expect("status of 4(03|04|22)")
			ann.setsUp(link)
			ann.sees(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "A night out"}))
			bob.visit(link)
			bob.sees(bob.page.GetByText("This link does not work"))

			ann.visit("/desk/team")
			ann.invites("bob@example.org", "viewer")
			bob.visit(o.mailed(t, "bob@example.org", invitationLink))
			bob.becomes("Bob", deskPassword)
			bob.visit("/desk/events/" + slug)
			bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "A night out"}))
			if !d.noScript { // a page that is left while it loads its map says so
				bob.sees(bob.page.Locator("#map canvas[data-ready]"))
			}
			bob.visit("/desk/team")
			check(t, expect.Locator(bob.button("Send an invitation")).ToHaveCount(0))
			bob.visit("/desk/log")
			bob.sees(bob.page.GetByText("Your role in this team does not allow that."))

			ann.visit("/desk/team")
			ann.press(ann.button("Remove Bob"))
			ann.sees(ann.page.GetByText("They are no longer in the team"))
			bob.visit("/desk/events/" + slug)
			bob.sees(bob.page.GetByText("There is nothing at this address for you."))
			ann.visit("/desk/log")
			for _, what := range []string{"set the desk up", "invited", "joined", "removed"} {
				ann.sees(ann.page.Locator(".deeds").GetByText(what, playwright.LocatorGetByTextOptions{Exact: playwright.Bool(true)}))
			}
		})
	}
}

// setsUp becomes the first organizer by a set-up link, after a password that is too short.
func (p *person) setsUp(link string) {
	p.t.Helper()
	p.visit(link)
	check(p.t, p.page.GetByLabel("Email").Fill("Ann@example.org"))
	p.becomes("Ann", "too short")
	p.sees(p.page.GetByText("Use at least 12 characters."))
	check(p.t, expect.Locator(p.page.GetByLabel("Email")).ToHaveValue("Ann@example.org"))
	p.becomes("Ann", deskPassword)
	p.sees(p.page.Locator("#today"))
}

// becomes fills in the form of a new organizer.
func (p *person) becomes(name, password string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Name").Fill(name))
	check(p.t, p.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Password"}).Fill(password))
	p.press(p.page.Locator("form .primary"))
}

func (p *person) invites(email, role string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Email").Fill(email))
	form := p.page.Locator(`form:has(input[name="email"])`)
	_, err := form.GetByLabel("Role").SelectOption(playwright.SelectOptionValues{Values: &[]string{role}})
	check(p.t, err)
	p.press(p.button("Send an invitation"))
	p.sees(p.page.GetByText("The invitation is on its way."))
}

func TestAForgottenPasswordIsChosenAnewByMailAndSignsOutEverywhereElse(t *testing.T) {
	t.Parallel()
	email := boxOffice.organizer(t, "Ann", "manager")
	ann, elsewhere := someone(t, boxOffice, "ann", phone), someone(t, boxOffice, "elsewhere", desktop)
	elsewhere.entersDesk(email)
	ann.visit("/desk/session")
	ann.press(ann.page.GetByText("Forgot your password?"))
	check(t, ann.page.GetByLabel("Email").Fill(email))
	ann.press(ann.button("Send me a link"))
	ann.sees(ann.page.GetByText("Check your email"))
	ann.visit(boxOffice.mailed(t, email, passwordLink))
	check(t, ann.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "New password"}).Fill("four other plain words"))
	ann.press(ann.button("Use this password"))
	ann.sees(ann.page.Locator("#today"))
	elsewhere.visit("/desk/team")
	elsewhere.sees(elsewhere.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sign in to your desk"}))
	elsewhere.expect("status of 403")
	elsewhere.givesPassword(email, deskPassword)
	elsewhere.sees(elsewhere.page.GetByText("Wrong email or password."))
	elsewhere.givesPassword(email, "four other plain words")
	elsewhere.sees(elsewhere.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Box office"})) // the page they wanted
}

// authenticator gives a browser a device that keeps passkeys and says that its owner is there.
func (p *person) authenticator() (session playwright.CDPSession, id string) {
	p.t.Helper()
	session, err := p.context.NewCDPSession(p.page)
	check(p.t, err)
	_, err = session.Send("WebAuthn.enable", map[string]any{})
	check(p.t, err)
	made, err := session.Send("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true, "isUserVerified": true, "automaticPresenceSimulation": true,
	}})
	check(p.t, err)
	return session, made.(map[string]any)["authenticatorId"].(string)
}

func TestAPasskeySignsInWithoutAnAddress(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	o.url = strings.Replace(o.url, "127.0.0.1", "localhost", 1) // browsers keep passkeys for names only
	email := o.organizer(t, "Ann", "owner")
	ann := someone(t, o, "ann", desktop)
	session, id := ann.authenticator()
	ann.entersDesk(email)
	ann.visit("/desk/account")
	check(t, ann.page.GetByLabel("Name of a new passkey").Fill("This laptop"))
	ann.press(ann.button("Add a passkey"))
	ann.sees(ann.page.GetByText("The passkey was added."))
	ann.sees(ann.page.GetByText("not used yet"))
	ann.leavesDesk()
	ann.press(ann.button("Sign in with a passkey"))
	ann.sees(ann.page.Locator("#today"))
	ann.visit("/desk/account")
	ann.sees(ann.page.GetByText("used last"))
	check(t, ann.page.GetByLabel("New name of This laptop").Fill("Old laptop"))
	ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Rename"}))
	ann.sees(ann.page.GetByText("The passkey was renamed."))
	ann.press(ann.button("Remove Old laptop"))
	ann.sees(ann.page.GetByText("The passkey was removed"))
	ann.leavesDesk()
	ann.expect("status of 403")
	ann.press(ann.button("Sign in with a passkey"))
	ann.sees(ann.page.GetByText("This passkey is not known here."))
	left, err := session.Send("WebAuthn.getCredentials", map[string]any{"authenticatorId": id})
	check(t, err)
	if n := len(left.(map[string]any)["credentials"].([]any)); n != 1 {
		t.Errorf("the device has %d passkeys", n)
	}
}

func TestWithoutHttpsThePageSaysWhyThereAreNoPasskeys(t *testing.T) {
	t.Parallel()
	ann := someone(t, boxOffice, "ann", phone)
	ann.entersDesk(boxOffice.organizer(t, "Ann", "till"))
	ann.visit("/desk/account")
	ann.sees(ann.page.GetByText("Passkeys work only at https addresses"))
	check(t, expect.Locator(ann.button("Add a passkey")).ToHaveCount(0))
}

// codeOf is the code that an authenticator app with a secret shows some steps from now.
func codeOf(t *testing.T, secret string, steps int64) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(secret, " ", ""))
	check(t, err)
	mac := hmac.New(sha1.New, key)
	_ = bytesof.Write(mac, bytesof.BigEndian, time.Now().Unix()/30+steps)
	sum := mac.Sum(nil)
	at := sum[19] & 15
	return fmt.Sprintf("%06d", (bytesof.BigEndian.Uint32(sum[at:])&0x7fffffff)%1000000)
}

func TestSecondFactor_AppIsEnrolledAndItsCodeSignsIn(t *testing.T) {
	t.Parallel()
	email := boxOffice.organizer(t, "Ann", "manager")
	ann := someone(t, boxOffice, "ann", phone)
	ann.entersDesk(email)
	ann.visit("/desk/account")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Set up second factor"}))
	secret, err := ann.page.Locator("[data-secret]").TextContent()
	check(t, err)
	check(t, ann.page.GetByLabel("Code from the app").Fill(codeOf(t, secret, 0)))
	ann.press(ann.button("Turn on"))
	ann.sees(ann.page.GetByText("Save your recovery codes"))
	check(t, expect.Locator(ann.page.Locator(".codes li")).ToHaveCount(10))
	recovery, err := ann.page.Locator(".codes code").First().TextContent()
	check(t, err)
	ann.leavesDesk()
	ann.givesPassword(email, deskPassword)
	ann.expect("status of 403")
	check(t, ann.page.GetByLabel("Code from your authenticator app").Fill("000000"))
	ann.press(ann.button("Sign in"))
	ann.sees(ann.page.GetByText("This code does not work"))
	check(t, ann.page.GetByLabel("Code from your authenticator app").Fill(codeOf(t, secret, 1)))
	ann.press(ann.button("Sign in"))
	ann.sees(ann.page.Locator("#today"))
	ann.leavesDesk()
	ann.givesPassword(email, deskPassword)
	check(t, ann.page.GetByLabel("Code from your authenticator app").Fill(recovery))
	ann.press(ann.button("Sign in"))
	ann.sees(ann.page.Locator("#today"))
}

func TestSessions_OneIsSignedOutFromAnotherDevice(t *testing.T) {
	t.Parallel()
	email := boxOffice.organizer(t, "Ann", "viewer")
	here, there := someone(t, boxOffice, "here", desktop), someone(t, boxOffice, "there", phone)
	here.entersDesk(email)
	there.entersDesk(email)
	here.visit("/desk/account")
	here.sees(here.page.GetByText("(this device)"))
	here.press(here.page.Locator(".sessions").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Chrome on Linux"}))
	here.sees(here.page.GetByText("You’re signed out on that device."))
	there.visit("/desk")
	there.sees(there.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sign in to your desk"}))
	here.visit("/desk")
	here.sees(here.page.Locator("#today"))
}

// Of a member who signs out nothing stays, but a sale that waits for its answer and what a door has yet to send. Drawings are not lost unasked.
func TestSignOut_LeavesNothingInTheBrowser(t *testing.T) {
	t.Parallel()
	ann := someone(t, boxOffice, "ann", desktop)
	ann.entersDesk(boxOffice.organizer(t, "Ann", "manager"))
	ann.visit("/desk/plans")
	_, err := ann.page.Evaluate(`async () => {
		sessionStorage.setItem('till EUR customer', '["Zoë"]')
		sessionStorage.setItem('till EUR sent', '{}')
		localStorage.setItem('usher/door/1 scan', '{}')
		const db = await new Promise(answer => {
			const request = indexedDB.open('usher-plans', 1)
			request.onupgradeneeded = () => request.result.createObjectStore('drafts')
			request.onsuccess = () => answer(request.result)
		})
		await new Promise(answer => { db.transaction('drafts', 'readwrite').objectStore('drafts').put({version: 1}, 'plan').onsuccess = answer })
		db.close()
	}`)
	check(t, err)
	keeps := func(want string) {
		t.Helper()
		got, err := ann.page.Evaluate(`async () => {
			const db = await new Promise(answer => { indexedDB.open('usher-plans', 1).onsuccess = event => answer(event.target.result) })
			const drafts = await new Promise(answer => { db.transaction('drafts').objectStore('drafts').count().onsuccess = event => answer(event.target.result) })
			db.close()
			return [drafts, 'drawing,', ...Object.keys(sessionStorage).sort(), ...Object.keys(localStorage)].join(' ')
		}`)
		check(t, err)
		if got != want {
			t.Errorf("the browser keeps %v, want %s", got, want)
		}
	}
	leave := ann.page.Locator(".here").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Sign out"})
	ann.page.Once("dialog", func(d playwright.Dialog) { check(t, d.Dismiss()) })
	ann.press(ann.page.Locator(".here summary"))
	ann.press(leave)
	keeps("1 drawing, till EUR customer till EUR sent usher/door/1 scan")

	tab, err := ann.page.Context().NewPage() // its session is ended by the first one, without its knowledge
	check(t, err)
	_, err = tab.Goto(boxOffice.url + "/desk/plans")
	check(t, err)
	_, err = tab.Evaluate(`() => { sessionStorage.setItem('till EUR customer', '["Zoë"]'); sessionStorage.setItem('till EUR sent', '{}') }`)
	check(t, err)

	ann.page.Once("dialog", func(d playwright.Dialog) { check(t, d.Accept()) })
	ann.press(leave)
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sign in to your desk"}))
	keeps("0 drawing, till EUR sent usher/door/1 scan")

	_, err = tab.Goto(boxOffice.url + "/desk/plans")
	check(t, err)
	check(t, expect.Locator(tab.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Sign in to your desk"})).ToBeVisible())
	eventually(t, patience, "the other tab to forget the customer", func() bool {
		left, err := tab.Evaluate(`() => Object.keys(sessionStorage).join()`)
		check(t, err)
		return left == "till EUR sent"
	})
}
