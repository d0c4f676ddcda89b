// Package wallettest makes certificates and keys for passes, as Apple and Google give them out, for tests.
package wallettest

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// What the certificates name.
const (
	PassType = "pass.org.example.tickets"
	Team     = "TEAM123456"
	Issuer   = "3388000000012345678"
)

// Apple are certificates and the key of a pass type, as PEM.
type Apple struct {
	Root, WWDR, Certificate, Key string
}

// NewApple makes a root, a WWDR certificate of it, and a certificate of a pass type of that. change may change the last one first.
func NewApple(t testing.TB, change func(c *x509.Certificate)) (a Apple) {
	t.Helper()
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	}
	root, rootKey := authority("Apple Root CA of a test"), newKey(t)
	a.Root = made(t, root, root, rootKey, rootKey)
	wwdr, wwdrKey := authority("Apple WWDR CA of a test"), newKey(t)
	a.WWDR = made(t, wwdr, root, wwdrKey, rootKey)
	pass, passKey := &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, Subject: pkix.Name{
		CommonName: "Pass Type ID: " + PassType, OrganizationalUnit: []string{Team},
		ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, Value: PassType}},
	}}, newKey(t)
	if change != nil {
		change(pass)
	}
	a.Certificate = made(t, pass, wwdr, passKey, wwdrKey)
	a.Key = keyPEM(t, passKey)
	return a
}

func newKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyPEM(t testing.TB, key *rsa.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// made signs a certificate and returns its PEM. It is valid for a year unless it says otherwise.
func made(t testing.TB, c, parent *x509.Certificate, key, by *rsa.PrivateKey) string {
	t.Helper()
	var err error
	if c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		t.Fatal(err)
	}
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	read, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	*c = *read
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// NewGoogle makes the key of a service account, as JSON, and what its signatures are checked with.
func NewGoogle(t testing.TB) (account string, public *rsa.PublicKey) {
	t.Helper()
	key := newKey(t)
	var out bytes.Buffer
	err := json.NewEncoder(&out).Encode(map[string]string{
		"type": "service_account", "client_email": "box@example.iam.gserviceaccount.com", "private_key_id": "0123456789abcdef", "private_key": keyPEM(t, key),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), &key.PublicKey
}
