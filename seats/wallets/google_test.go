package wallets_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/wallets/wallettest"
)

func TestGoogle_LinkIsSignedAndSaysWhatTheTicketSays(t *testing.T) {
	t.Parallel()
	account, public := wallettest.NewGoogle(t)
	g, err := wallets.NewGoogle(account, wallettest.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	p := aPass()
	p.Code, p.Team, p.Seat = "A1B2", "AT", p.Seat[:1] // so short that nothing is left out
	saved := func() (ids [3]string, said string) {
		t.Helper()
		link, err := g.Link(p, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		signed, is := strings.CutPrefix(link, "https://pay.google.com/gp/v/save/")
		if !is || len(signed) > 1800 {
			t.Errorf("the link is %d letters: %s", len(link), link)
		}
		token, err := jwt.Parse(signed, func(*jwt.Token) (any, error) { return public, nil }, jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience("google"), jwt.WithIssuer("box@example.iam.gserviceaccount.com"))
		if err != nil {
			t.Fatal(err)
		}
		claims := token.Claims.(jwt.MapClaims)
		if claims["typ"] != "savetowallet" || token.Header["kid"] != "0123456789abcdef" {
			t.Errorf("the link claims %v", claims)
		}
		payload, err := json.Marshal(claims["payload"])
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Classes []struct{ ID string }          `json:"eventTicketClasses"`
			Objects []struct{ ID, ClassID string } `json:"eventTicketObjects"`
		}
		if err := json.Unmarshal(payload, &all); err != nil || len(all.Classes) != 1 || len(all.Objects) != 1 {
			t.Fatal(err, string(payload))
		}
		return [3]string{all.Classes[0].ID, all.Objects[0].ID, all.Objects[0].ClassID}, string(payload)
	}
	first, said := saved()
	if first[0] != first[2] || !strings.HasPrefix(first[0], wallettest.Issuer+".event-12-") || !strings.HasPrefix(first[1], wallettest.Issuer+".ticket-") {
		t.Errorf("ids are %v", first)
	}
	for _, words := range []string{`"value":"` + p.Code + `"`, `"type":"QR_CODE"`, `"reviewStatus":"UNDER_REVIEW"`, `"state":"ACTIVE"`, `"start":"2030-03-01T19:30:00+01:00"`, `"doorsOpen":"2030-03-01T18:45:00+01:00"`, `{"defaultValue":{"language":"de","value":"Parkett"}}`, `"confirmationCode":"K7QM-4XPD"`, `"ticketHolderName":"Ann Ørsted"`, `"Ring 1, 10115 Berlin"`} {
		if !strings.Contains(said, words) {
			t.Errorf("the link does not say %s: %s", words, said)
		}
	}
	if again, _ := saved(); again != first {
		t.Errorf("the same ticket is %v, and then %v", first, again)
	}
	p.StartsAt = p.StartsAt.Add(time.Hour)
	if moved, _ := saved(); moved[0] == first[0] || moved[1] == first[1] {
		t.Error("a ticket of an event that was moved has the id of before, under which it stays as it was")
	}
}

func TestGoogle_LongLinkLeavesOutWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	account, _ := wallettest.NewGoogle(t)
	g, err := wallets.NewGoogle(account, wallettest.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	link, err := g.Link(aPass(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	signed := strings.TrimPrefix(link, "https://pay.google.com/gp/v/save/")
	if _, _, err := jwt.NewParser().ParseUnverified(signed, claims); err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(claims)
	t.Logf("the signed part has %d letters: %s", len(signed), said)
	if err != nil || len(signed) > 1800 {
		t.Errorf("the signed part has %d letters: %v", len(signed), err)
	}
	for _, words := range []string{aPass().Code, "Die Möwe", "2030-03-01T19:30:00+01:00", "Parkett"} {
		if !strings.Contains(string(said), words) {
			t.Errorf("the link does not say %s: %s", words, said)
		}
	}
}

func TestGoogle_SettingsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	account, _ := wallettest.NewGoogle(t)
	for _, c := range []struct{ name, account, issuer, want string }{
		{"no number", account, "BCR2DN", "is a number"},
		{"no JSON", "-----BEGIN", wallettest.Issuer, "no JSON"},
		{"another kind", `{"type":"authorized_user","client_email":"a@example.org"}`, wallettest.Issuer, "service account"},
		{"no key", `{"type":"service_account","client_email":"a@example.org","private_key":"x"}`, wallettest.Issuer, "private_key"},
	} {
		if _, err := wallets.NewGoogle(c.account, c.issuer); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
