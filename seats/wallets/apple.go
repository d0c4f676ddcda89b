package wallets

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/smallstep/pkcs7"
)

// Apple signs passes with the certificate of a pass type id.
type Apple struct {
	PassType string    // such as pass.org.example.tickets
	Team     string    // at Apple: ten letters and digits
	Ends     time.Time // the first moment at which one of the certificates is not valid any more

	certificate, issuer *x509.Certificate
	key                 crypto.PrivateKey
	push                *pusher
}

// userID is the attribute of a subject in which Apple writes the pass type id.
var userID = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}

// NewApple reads the certificate of a pass type id, its key, and the certificate of Apple that issued it (WWDR), as PEM each. An
// error says what does not fit, as it is at now.
func NewApple(certificate, key, issuer string, now time.Time) (*Apple, error) {
	a := &Apple{}
	var err error
	if a.certificate, err = readCertificate(certificate); err != nil {
		return nil, fmt.Errorf("the certificate of the pass type: %w", err)
	}
	if a.issuer, err = readCertificate(issuer); err != nil {
		return nil, fmt.Errorf("the certificate of Apple (WWDR): %w", err)
	}
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		return nil, fmt.Errorf("the key does not fit the certificate of the pass type: %w", err)
	}
	a.key = pair.PrivateKey
	for _, name := range a.certificate.Subject.Names {
		if value, _ := name.Value.(string); name.Type.Equal(userID) {
			a.PassType = value
		}
	}
	if !strings.HasPrefix(a.PassType, "pass.") {
		return nil, fmt.Errorf("the certificate is not one of a pass type: it names %q, and not pass.…", cmp.Or(a.PassType, a.certificate.Subject.CommonName))
	}
	if len(a.certificate.Subject.OrganizationalUnit) != 1 {
		return nil, errors.New("the certificate of the pass type does not name the team at Apple")
	}
	a.Team = a.certificate.Subject.OrganizationalUnit[0]
	if !bytes.Equal(a.certificate.RawIssuer, a.issuer.RawSubject) || a.certificate.CheckSignatureFrom(a.issuer) != nil {
		return nil, fmt.Errorf("the certificate of the pass type was issued by %q, and not by %q: take the certificate of Apple (WWDR) with that name", a.certificate.Issuer.CommonName, a.issuer.Subject.CommonName)
	}
	a.Ends = a.certificate.NotAfter
	for _, c := range []*x509.Certificate{a.certificate, a.issuer} {
		if now.Before(c.NotBefore) || now.After(c.NotAfter) {
			return nil, fmt.Errorf("the certificate of %q is valid from %s to %s", c.Subject.CommonName, c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
		}
		if c.NotAfter.Before(a.Ends) {
			a.Ends = c.NotAfter
		}
	}
	a.push = newPusher(pair, a.PassType)
	return a, nil
}

// readCertificate reads the first certificate of a PEM.
func readCertificate(text string) (*x509.Certificate, error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it has no certificate in PEM (openssl x509 -inform der -in pass.cer writes one)")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
}

// The parts of pass.json that we use, as Apple names them.
type (
	passJSON struct {
		FormatVersion       int            `json:"formatVersion"`
		PassTypeIdentifier  string         `json:"passTypeIdentifier"`
		TeamIdentifier      string         `json:"teamIdentifier"`
		SerialNumber        string         `json:"serialNumber"`
		WebServiceURL       string         `json:"webServiceURL,omitempty"`
		AuthenticationToken string         `json:"authenticationToken,omitempty"`
		OrganizationName    string         `json:"organizationName"`
		Description         string         `json:"description"`
		GroupingIdentifier  string         `json:"groupingIdentifier"`
		RelevantDate        string         `json:"relevantDate"`
		Voided              bool           `json:"voided"`
		SharingProhibited   bool           `json:"sharingProhibited"`
		BackgroundColor     string         `json:"backgroundColor"`
		ForegroundColor     string         `json:"foregroundColor"`
		LabelColor          string         `json:"labelColor"`
		Barcodes            []barcodeJSON  `json:"barcodes,omitempty"`
		EventTicket         eventTicket    `json:"eventTicket"`
		Semantics           map[string]any `json:"semantics"`
	}
	barcodeJSON struct {
		Format          string `json:"format"`
		Message         string `json:"message"`
		MessageEncoding string `json:"messageEncoding"`
		AltText         string `json:"altText"`
	}
	eventTicket struct {
		Header    []fieldJSON `json:"headerFields,omitempty"`
		Primary   []fieldJSON `json:"primaryFields"`
		Secondary []fieldJSON `json:"secondaryFields"`
		Auxiliary []fieldJSON `json:"auxiliaryFields,omitempty"`
		Back      []fieldJSON `json:"backFields"`
	}
	fieldJSON struct {
		Key           string `json:"key"`
		Label         string `json:"label,omitempty"`
		Value         string `json:"value"`
		ChangeMessage string `json:"changeMessage,omitempty"` // shown when an update changes the value; %@ is that
	}
)

// fields are those of a pass that say something. A change of one is told.
func fields(list ...Field) (said []fieldJSON) {
	for _, f := range list {
		if f.Words != "" {
			message := "%@"
			if f.Label != "" {
				message = strings.ReplaceAll(f.Label, "%", "") + ": %@"
			}
			said = append(said, fieldJSON{f.Key, f.Label, f.Words, message})
		}
	}
	return said
}

// describe is what pass.json says of a pass.
func (a *Apple) describe(p Pass) passJSON {
	colour := func(c [3]uint8) string { return fmt.Sprintf("rgb(%d, %d, %d)", c[0], c[1], c[2]) }
	void, front := Field{Key: "void", Words: p.Void}, p.Place
	if p.Void != "" {
		front = void
	}
	d := passJSON{
		FormatVersion: 1, PassTypeIdentifier: a.PassType, TeamIdentifier: a.Team, SerialNumber: p.Serial.String(),
		OrganizationName: p.Team, Description: p.Name, GroupingIdentifier: fmt.Sprintf("event-%d", p.Event), RelevantDate: p.StartsAt.Format(time.RFC3339),
		Voided: p.Void != "", SharingProhibited: true, // people send tickets to friends by their page, which ends the old code
		BackgroundColor: colour(p.Ground), ForegroundColor: colour(p.Words), LabelColor: colour(p.Words),
		EventTicket: eventTicket{
			Header: fields(p.Doors), Primary: fields(Field{"event", "", p.Name}), Secondary: fields(p.When, front),
			Auxiliary: fields(append(slices.Clone(p.Seat), p.Type)...), Back: fields(append([]Field{void, p.Place, p.Holder}, p.Back...)...),
		},
		Semantics: p.semantics(),
	}
	if p.Service != "" {
		d.WebServiceURL, d.AuthenticationToken = p.Service, p.Token
	}
	if p.Code != "" {
		d.Barcodes = []barcodeJSON{{"PKBarcodeFormatQR", p.Code, "iso-8859-1", p.Number}}
	}
	for i := range d.EventTicket.Back { // a key is of one field of the pass
		d.EventTicket.Back[i].Key = "back-" + d.EventTicket.Back[i].Key
	}
	return d
}

// semantics say to the phone, not to its owner, what the ticket is for.
func (p Pass) semantics() map[string]any {
	said := map[string]any{"eventType": "PKEventTypeGeneric", "eventName": p.Name, "eventStartDate": p.StartsAt.Format(time.RFC3339)}
	if p.Venue != "" {
		said["venueName"] = p.Venue
	}
	seat := map[string]string{}
	for key, name := range map[string]string{"section": "seatSection", "row": "seatRow", "seat": "seatNumber"} {
		if i := slices.IndexFunc(p.Seat, func(f Field) bool { return f.Key == key }); i >= 0 {
			seat[name] = p.Seat[i].Words
		}
	}
	if len(seat) > 0 {
		said["seats"] = []any{seat}
	}
	return said
}

// File returns the file of a pass (.pkpass), signed: a ZIP archive with pass.json, pictures, a manifest with the SHA-1 of each file, and a
// detached PKCS#7 signature of the manifest. Two files of one pass differ in the time of their signature alone.
func (a *Apple) File(p Pass) ([]byte, error) {
	said, err := json.Marshal(a.describe(p))
	if err != nil {
		return nil, fmt.Errorf("wallets: write a pass: %w", err)
	}
	files, sums := append([]File{{"pass.json", said}}, p.Pictures...), map[string]string{}
	for _, f := range files {
		sum := sha1.Sum(f.Content) // which Apple's format asks for
		sums[f.Name] = hex.EncodeToString(sum[:])
	}
	manifest, err := json.Marshal(sums)
	if err != nil {
		return nil, fmt.Errorf("wallets: write a manifest: %w", err)
	}
	signature, err := a.sign(manifest)
	if err != nil {
		return nil, fmt.Errorf("wallets: sign a pass: %w", err)
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range append(files, File{"manifest.json", manifest}, File{"signature", signature}) {
		w, err := archive.Create(f.Name)
		if err == nil {
			_, err = w.Write(f.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("wallets: pack a pass: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("wallets: pack a pass: %w", err)
	}
	return out.Bytes(), nil
}

// sign returns a detached signature with the time of signing, and with the certificates up to that of Apple.
func (a *Apple) sign(content []byte) ([]byte, error) {
	signed, err := pkcs7.NewSignedData(content)
	if err != nil {
		return nil, err
	}
	signed.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	if err := signed.AddSignerChain(a.certificate, a.key, []*x509.Certificate{a.issuer}, pkcs7.SignerInfoConfig{}); err != nil {
		return nil, err
	}
	signed.Detach()
	return signed.Finish()
}
