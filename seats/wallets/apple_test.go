package wallets_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/wallets/wallettest"
)

// aPass is the pass of a ticket of an evening.
func aPass() wallets.Pass {
	zone := time.FixedZone("CET", 3600)
	return wallets.Pass{
		Serial: seats.NewID(), Token: "0123456789ABCDEF0123", Service: "https://box.example.org/wallets/de", Language: "de",
		Event: 12, Name: "Die Möwe", Team: "Altes Theater", StartsAt: time.Date(2030, 3, 1, 19, 30, 0, 0, zone), DoorsAt: time.Date(2030, 3, 1, 18, 45, 0, 0, zone),
		Venue: "Großes Haus", Address: "Ring 1, 10115 Berlin",
		When: wallets.Field{Key: "when", Label: "Datum", Words: "Fr. 1. März 2030, 19:30 MEZ"}, Doors: wallets.Field{Key: "doors", Label: "Einlass", Words: "18:45 MEZ"},
		Place: wallets.Field{Key: "place", Label: "Ort", Words: "Großes Haus"}, Type: wallets.Field{Key: "type", Label: "Ticket", Words: "Normal"}, Holder: wallets.Field{Key: "name", Label: "Name", Words: "Ann Ørsted"},
		Seat: []wallets.Field{{Key: "section", Label: "Bereich", Words: "Parkett"}, {Key: "row", Label: "Reihe", Words: "L"}, {Key: "seat", Label: "Platz", Words: "12"}},
		Back: []wallets.Field{{Key: "order", Label: "Bestellnummer", Words: "K7QM-4XPD"}}, Number: "K7QM-4XPD", Ticket: seats.NewID(), Code: strings.Repeat("A1", 74),
		Ground: [3]uint8{23, 22, 26}, Words: [3]uint8{255, 255, 255}, Pictures: []wallets.File{{Name: "icon.png", Content: []byte("an icon")}},
	}
}

func apple(t *testing.T) (wallettest.Apple, *wallets.Apple) {
	t.Helper()
	keys := wallettest.NewApple(t, nil)
	a, err := wallets.NewApple(keys.Certificate, keys.Key, keys.WWDR, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return keys, a
}

// unpacked are the files of a pass.
func unpacked(t *testing.T, file []byte) map[string][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// read returns pass.json, and fails if the manifest does not name each file with its sum.
func read(t *testing.T, files map[string][]byte) (said map[string]any) {
	t.Helper()
	var manifest map[string]string
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for name, content := range files {
		if name != "manifest.json" && name != "signature" {
			sum := sha1.Sum(content)
			sums[name] = hex.EncodeToString(sum[:])
		}
	}
	if !maps.Equal(manifest, sums) {
		t.Errorf("the manifest says %v, and the files are %v", manifest, sums)
	}
	if err := json.Unmarshal(files["pass.json"], &said); err != nil {
		t.Fatal(err)
	}
	return said
}

// believed asks openssl whether a signature is one of the manifest, by a certificate that leads to the root.
func believed(t *testing.T, keys wallettest.Apple, manifest, signature []byte) (string, error) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string][]byte{"root.pem": []byte(keys.Root), "manifest.json": manifest, "signature": signature} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify := exec.CommandContext(t.Context(), "openssl", "cms", "-verify", "-binary", "-purpose", "any", "-inform", "DER", "-in", "signature", "-content", "manifest.json", "-CAfile", "root.pem", "-signer", "signer.pem", "-out", "said")
	verify.Dir = folder
	out, err := verify.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	signer, err := os.ReadFile(filepath.Join(folder, "signer.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if string(signer) != keys.Certificate {
		t.Error("openssl names another signer than the certificate of the pass type")
	}
	return string(out), nil
}

func TestApple_OpenSSLBelievesTheSignature(t *testing.T) {
	t.Parallel()
	keys, a := apple(t)
	file, err := a.File(aPass())
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, file)
	if said, err := believed(t, keys, files["manifest.json"], files["signature"]); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if said, err := believed(t, keys, append(files["manifest.json"], ' '), files["signature"]); err == nil {
		t.Errorf("the signature holds for another manifest: %s", said)
	}
	other := wallettest.NewApple(t, nil)
	if said, err := believed(t, wallettest.Apple{Root: other.Root, Certificate: keys.Certificate}, files["manifest.json"], files["signature"]); err == nil {
		t.Errorf("the signature is believed under another root: %s", said)
	}
	print := exec.CommandContext(t.Context(), "openssl", "cms", "-cmsout", "-print", "-inform", "DER")
	print.Stdin = bytes.NewReader(files["signature"])
	out, err := print.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "signingTime") || !strings.Contains(string(out), "sha256") || strings.Count(string(out), "d.certificate:") != 2 || !strings.Contains(string(out), "eContent: <ABSENT>") {
		t.Errorf("the signature has no time, no SHA-256, not two certificates, or the manifest in it: %v %s", err, out)
	}
}

func TestApple_PassSaysWhatTheTicketSays(t *testing.T) {
	t.Parallel()
	_, a := apple(t)
	p := aPass()
	file, err := a.File(p)
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, file)
	said := read(t, files)
	for key, want := range map[string]any{
		"formatVersion": 1.0, "passTypeIdentifier": wallettest.PassType, "teamIdentifier": wallettest.Team, "serialNumber": p.Serial.String(), "authenticationToken": p.Token,
		"webServiceURL": p.Service, "relevantDate": "2030-03-01T19:30:00+01:00", "voided": false, "sharingProhibited": true, "organizationName": p.Team, "backgroundColor": "rgb(23, 22, 26)",
	} {
		if said[key] != want {
			t.Errorf("%s is %v, not %v", key, said[key], want)
		}
	}
	for _, words := range []string{`"message":"` + p.Code + `"`, `"format":"PKBarcodeFormatQR"`, `"Die Möwe"`, `"Fr. 1. März 2030, 19:30 MEZ"`, `"18:45 MEZ"`, `"Parkett"`, `"label":"Reihe","value":"L"`, `"12"`, `"Normal"`, `"K7QM-4XPD"`, `"Ann Ørsted"`, `"changeMessage":"Datum: %@"`} {
		if !bytes.Contains(files["pass.json"], []byte(words)) {
			t.Errorf("the pass does not say %s: %s", words, files["pass.json"])
		}
	}
	again, err := a.File(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range unpacked(t, again) {
		if name != "signature" && !bytes.Equal(content, files[name]) {
			t.Errorf("%s differs the second time", name)
		}
	}
	keys := map[string]bool{}
	for _, list := range said["eventTicket"].(map[string]any) {
		for _, field := range list.([]any) {
			key := field.(map[string]any)["key"].(string)
			if keys[key] {
				t.Errorf("two fields have the key %s", key)
			}
			keys[key] = true
		}
	}
}

func TestApple_VoidPassHasNoCode(t *testing.T) {
	t.Parallel()
	_, a := apple(t)
	p := aPass()
	p.Void, p.Code, p.Service = "Dieses Ticket gilt nicht mehr.", "", ""
	file, err := a.File(p)
	if err != nil {
		t.Fatal(err)
	}
	said := read(t, unpacked(t, file))
	if said["voided"] != true || said["barcodes"] != nil || said["webServiceURL"] != nil || said["authenticationToken"] != nil {
		t.Errorf("a void pass says %v", said)
	}
}

func TestApple_SettingsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	good, other := wallettest.NewApple(t, nil), wallettest.NewApple(t, nil)
	old := wallettest.NewApple(t, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().AddDate(-2, 0, 0), time.Now().AddDate(-1, 0, 0)
	})
	app := wallettest.NewApple(t, func(c *x509.Certificate) {
		c.Subject.ExtraNames = nil
		c.Subject.CommonName = "Apple Push Services"
	})
	nobody := wallettest.NewApple(t, func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: "Pass", ExtraNames: c.Subject.ExtraNames}
	})
	for _, c := range []struct{ name, certificate, key, issuer, want string }{
		{"no PEM", "MIIB", good.Key, good.WWDR, "has no certificate in PEM"},
		{"key as certificate", good.Key, good.Key, good.WWDR, "has no certificate in PEM"},
		{"another key", good.Certificate, other.Key, good.WWDR, "the key does not fit"},
		{"another issuer", good.Certificate, good.Key, other.WWDR, "WWDR"},
		{"the root for the issuer", good.Certificate, good.Key, good.Root, "Apple WWDR CA of a test"},
		{"expired", old.Certificate, old.Key, old.WWDR, "is valid from"},
		{"of an app", app.Certificate, app.Key, app.WWDR, "not one of a pass type"},
		{"without a team", nobody.Certificate, nobody.Key, nobody.WWDR, "does not name the team"},
	} {
		if _, err := wallets.NewApple(c.certificate, c.key, c.issuer, time.Now()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	a, err := wallets.NewApple(good.Certificate, good.Key, good.WWDR, time.Now())
	if err != nil || a.PassType != wallettest.PassType || a.Team != wallettest.Team {
		t.Errorf("%v %+v", err, a)
	}
}
