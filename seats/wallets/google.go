package wallets

import (
	"cmp"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Google signs links that save tickets in Google Wallet, with the key of a service account.
type Google struct {
	issuer, account, keyID string
	key                    *rsa.PrivateKey
}

var issuerID = regexp.MustCompile(`^[0-9]{5,25}$`)

// NewGoogle reads the key of a service account, the JSON that Google gives out, and the number of the issuer at Google Wallet.
func NewGoogle(account, issuer string) (*Google, error) {
	if !issuerID.MatchString(issuer) {
		return nil, fmt.Errorf("the issuer at Google Wallet is a number such as 3388000000012345678, and not %q", issuer)
	}
	var file struct {
		Type  string `json:"type"`
		Email string `json:"client_email"`
		KeyID string `json:"private_key_id"`
		Key   string `json:"private_key"`
	}
	if err := json.Unmarshal([]byte(account), &file); err != nil {
		return nil, fmt.Errorf("the key of the service account is no JSON: %w", err)
	}
	if file.Type != "service_account" || file.Email == "" {
		return nil, errors.New(`the key is not one of a service account: it has no "type": "service_account", or no client_email`)
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(file.Key))
	if err != nil {
		return nil, fmt.Errorf("the private_key of the service account: %w", err)
	}
	return &Google{issuer: issuer, account: file.Email, keyID: file.KeyID, key: key}, nil
}

// The parts of a ticket that we use, as Google names them.
type (
	googleTickets struct {
		Classes []googleClass  `json:"eventTicketClasses"`
		Objects []googleObject `json:"eventTicketObjects"`
	}
	googleClass struct {
		ID           string       `json:"id"`
		Issuer       string       `json:"issuerName"`
		ReviewStatus string       `json:"reviewStatus"`
		Name         googleText   `json:"eventName"`
		Venue        *googleVenue `json:"venue,omitempty"`
		Time         googleTime   `json:"dateTime"`
		Colour       string       `json:"hexBackgroundColor"`
	}
	googleVenue struct {
		Name    googleText `json:"name"`
		Address googleText `json:"address"`
	}
	googleTime struct {
		Start string `json:"start"`
		Doors string `json:"doorsOpen,omitempty"`
	}
	googleObject struct {
		ID      string                `json:"id"`
		Class   string                `json:"classId"`
		State   string                `json:"state"`
		Barcode googleCode            `json:"barcode"`
		Holder  string                `json:"ticketHolderName,omitempty"`
		Order   googleOrder           `json:"reservationInfo"`
		Seat    map[string]googleText `json:"seatInfo,omitempty"`
		Type    *googleText           `json:"ticketType,omitempty"`
	}
	googleCode struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	googleOrder struct {
		Code string `json:"confirmationCode"`
	}
	googleText struct {
		Default googleWords `json:"defaultValue"`
	}
	googleWords struct {
		Language string `json:"language"`
		Value    string `json:"value"`
	}
)

// describe is what Google Wallet is to keep of a pass. What is kept of an event or a ticket under an id stays as it is, so each id has a hash
// of what it stands for: a ticket that is saved again after its event was moved is another one.
func (g *Google) describe(p Pass) (googleTickets, error) {
	say := func(words string) googleText { return googleText{googleWords{p.Language, words}} }
	class := googleClass{
		Issuer: p.Team, ReviewStatus: "UNDER_REVIEW", Name: say(p.Name), Time: googleTime{Start: p.StartsAt.Format(time.RFC3339)},
		Colour: fmt.Sprintf("#%02x%02x%02x", p.Ground[0], p.Ground[1], p.Ground[2]),
	}
	if !p.DoorsAt.IsZero() {
		class.Time.Doors = p.DoorsAt.Format(time.RFC3339)
	}
	if p.Venue != "" {
		class.Venue = &googleVenue{say(p.Venue), say(cmp.Or(p.Address, p.Venue))}
	}
	object := googleObject{State: "ACTIVE", Barcode: googleCode{"QR_CODE", p.Code}, Holder: p.Holder.Words, Order: googleOrder{p.Number}}
	for _, f := range p.Seat {
		if f.Words != "" {
			if object.Seat == nil {
				object.Seat = map[string]googleText{}
			}
			object.Seat[f.Key] = say(f.Words)
		}
	}
	if p.Type.Words != "" {
		kind := say(p.Type.Words)
		object.Type = &kind
	}
	var err error
	if class.ID, err = g.id(fmt.Sprintf("event-%d", p.Event), class); err != nil {
		return googleTickets{}, err
	}
	object.Class = class.ID
	if object.ID, err = g.id("ticket", object); err != nil {
		return googleTickets{}, err
	}
	return googleTickets{[]googleClass{class}, []googleObject{object}}, nil
}

// id is a name at Google, with a hash of what it names.
func (g *Google) id(name string, of any) (string, error) {
	content, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("wallets: name a ticket for Google: %w", err)
	}
	sum := sha256.Sum256(content)
	return g.issuer + "." + name + "-" + hex.EncodeToString(sum[:8]), nil
}

// mostSigned is how long the signed part of a link may be, in letters: Google names it as what all browsers pass on.
const mostSigned = 1800

// Link returns the address that saves a pass in Google Wallet. Nothing is sent to Google for it. What would make it too long is left out, from
// the name of its holder to the venue: event, start, seat and code are there in any case.
func (g *Google) Link(p Pass, now time.Time) (string, error) {
	shorten := []func(){func() { p.Holder.Words = "" }, func() { p.Type.Words = "" }, func() { p.Address = "" }, func() { p.DoorsAt = time.Time{} }, func() { p.Venue = "" }}
	signed, err := g.signed(p, now)
	for err == nil && len(signed) > mostSigned && len(shorten) > 0 {
		shorten[0]()
		shorten = shorten[1:]
		signed, err = g.signed(p, now)
	}
	return "https://pay.google.com/gp/v/save/" + signed, err
}

func (g *Google) signed(p Pass, now time.Time) (string, error) {
	tickets, err := g.describe(p)
	if err != nil {
		return "", err
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"iss": g.account, "aud": "google", "typ": "savetowallet", "iat": now.Unix(), "payload": tickets,
	})
	if g.keyID != "" {
		token.Header["kid"] = g.keyID
	}
	signed, err := token.SignedString(g.key)
	if err != nil {
		return "", fmt.Errorf("wallets: sign a link: %w", err)
	}
	return signed, nil
}
