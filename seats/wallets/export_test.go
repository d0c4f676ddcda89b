package wallets

import (
	"crypto/tls"
	"net/http"
)

// PushTo makes another server the push service, which is trusted by a client.
func (a *Apple) PushTo(url string, client *http.Client) {
	ours, _ := a.push.client.Transport.(*http.Transport)
	theirs, _ := client.Transport.(*http.Transport)
	ours.TLSClientConfig = &tls.Config{Certificates: ours.TLSClientConfig.Certificates, RootCAs: theirs.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	a.push.url = url
}
