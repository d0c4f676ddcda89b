package handlers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
)

// authenticator is a device with one passkey (WebAuthn, ES256, no attestation).
type authenticator struct {
	origin string
	key    *ecdsa.PrivateKey
	id     []byte
	handle string // of its organizer
	count  uint32
}

func newAuthenticator(t *testing.T, origin string) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticator{origin: origin, key: key, id: []byte(rand.Text())}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) client(kind, challenge string) []byte {
	return fmt.Appendf(nil, `{"type":"webauthn.%s","challenge":%q,"origin":%q,"crossOrigin":false}`, kind, challenge, a.origin)
}

// data says that the user was there and was verified; more is what follows it.
func (a *authenticator) data(flags byte, more ...byte) []byte {
	a.count++
	site := sha256.Sum256([]byte("localhost"))
	return append(binary.BigEndian.AppendUint32(append(site[:], 0x05|flags), a.count), more...)
}

// attestation is CBOR by hand: {"fmt": "none", "attStmt": {}, "authData": …} with the public key as COSE has it.
func (a *authenticator) attestation(t *testing.T) []byte {
	t.Helper()
	public, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	credential := append(make([]byte, 16), 0, byte(len(a.id)))
	credential = append(credential, a.id...)
	credential = append(append(credential, 0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20), public[1:33]...)
	credential = append(append(credential, 0x22, 0x58, 0x20), public[33:]...)
	data := a.data(0x40, credential...)
	text := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return append(text, data...)
}

type passkeyOptions struct {
	PublicKey struct {
		Challenge string
		User      struct{ ID string }
	}
}

func (s *site) passkeyOptions(t *testing.T, who *http.Client, path string) (o passkeyOptions) {
	t.Helper()
	a, body := send(t, who, "POST", s.url+path, `{}`)
	if a.StatusCode != http.StatusOK || json.Unmarshal([]byte(body), &o) != nil {
		t.Fatal(path, a.StatusCode, body)
	}
	return o
}

// enrolsPasskey adds the passkey of a device to the account of a person at the desk.
func (s *site) enrolsPasskey(t *testing.T, who *http.Client, device *authenticator) {
	t.Helper()
	o := s.passkeyOptions(t, who, "/desk/account/passkeys/options")
	device.handle = o.PublicKey.User.ID
	answer := fmt.Sprintf(`{"id":%[1]q,"rawId":%[1]q,"type":"public-key","response":{"clientDataJSON":%q,"attestationObject":%q}}`,
		b64(device.id), b64(device.client("create", o.PublicKey.Challenge)), b64(device.attestation(t)))
	if a, body := send(t, who, "POST", s.url+"/desk/account/passkeys", `{"name":"Laptop","answer":`+answer+`}`); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
}

// proves signs what was asked with a device, and returns what it sent and the status of the answer.
func (s *site) proves(t *testing.T, who *http.Client, device *authenticator) (sent string, status int) {
	t.Helper()
	o := s.passkeyOptions(t, who, "/desk/session/options")
	client, data := device.client("get", o.PublicKey.Challenge), device.data(0)
	of := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, of[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, device.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	sent = fmt.Sprintf(`{"to":"/desk/team","answer":{"id":%[1]q,"rawId":%[1]q,"type":"public-key","response":{"clientDataJSON":%q,"authenticatorData":%q,"signature":%q,"userHandle":%q}}}`,
		b64(device.id), b64(client), b64(data), b64(signature), device.handle)
	a, _ := send(t, who, "POST", s.url+"/desk/session/proof/passkey", sent)
	return sent, a.StatusCode
}

func TestProof_PasskeyOfTheSameOrganizerProvesOnce(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost:8080"
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = origin })
	ann := s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Viewer, s.sale.Event.Team)
	laptop, other := newAuthenticator(t, origin), newAuthenticator(t, origin)
	s.enrolsPasskey(t, ann, laptop)
	s.enrolsPasskey(t, bob, other)
	remove := func(want int) {
		t.Helper()
		if a, body := send(t, ann, "POST", s.url+"/desk/team/members/2/removal", `{"key":"k"}`); a.StatusCode != want {
			t.Errorf("a change to the team: %d %s, want %d", a.StatusCode, body, want)
		}
	}
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	remove(http.StatusForbidden)
	if _, status := s.proves(t, ann, other); status != http.StatusForbidden {
		t.Errorf("another organizer's passkey: %d", status)
	}
	remove(http.StatusForbidden)
	sent, status := s.proves(t, ann, laptop)
	if status != http.StatusOK {
		t.Fatalf("the organizer's own passkey: %d", status)
	}
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	if a, _ := send(t, ann, "POST", s.url+"/desk/session/proof/passkey", sent); a.StatusCode != http.StatusForbidden {
		t.Errorf("the same answer once more: %d", a.StatusCode)
	}
	remove(http.StatusForbidden)
	if _, status := s.proves(t, ann, laptop); status != http.StatusOK {
		t.Errorf("the passkey once more: %d", status)
	}
	remove(http.StatusNoContent)
}
