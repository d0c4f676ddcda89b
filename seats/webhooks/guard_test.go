package webhooks_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/webhooks"
)

func TestOnlyAddressesOfThePublicInternetAreCalled(t *testing.T) {
	t.Parallel()
	for _, text := range strings.Fields(`0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.170 192.0.2.1
		192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1
		64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fec0::1 ff02::1`) {
		if webhooks.Public(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as public", text)
		}
	}
	for _, text := range strings.Fields(`1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 192.169.0.1 223.255.255.1 2606:4700:4700::1111 2a00:1450::1 2400:cb00::1`) {
		if !webhooks.Public(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as not public", text)
		}
	}
}

func TestHook_InsideTheNetworkIsNotCalledUnlessAllowed(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := listen(t, nil)
	h.hooks = webhooks.New(h.db, h.desk, false)
	for _, address := range []string{
		l.url, "https://127.0.0.1/x", "https://[::1]:8080/", "https://169.254.169.254/latest", "https://10.1.2.3/", "ftp://example.org/x", "https://", "https://ann:secret@example.org/",
		"https://example.org/#x", "//example.org/", "https://example.org/" + strings.Repeat("x", 500), "javascript:alert(1)",
	} {
		if _, _, err := h.hooks.Make(t.Context(), h.ann, address, webhooks.Kinds(), seats.NewID().String()); err == nil {
			t.Errorf("%q was taken for an address", address)
		}
	}
	named := strings.Replace(l.url, "127.0.0.1", "localhost", 1) // which looks at nothing but the name
	id, _ := h.hook(t, strings.Replace(named, "http://", "https://", 1))
	h.exec(t, `UPDATE hook SET url = $1`, named)
	h.send(t, h.hooks)
	h.sold(t, "a", 0)
	h.hooks.Wake()
	var answers []webhooks.Answer
	until(t, "the call was refused", func() bool {
		list, _, err := h.hooks.Deliveries(t.Context(), h.ann, id, paging.Page{Limit: webhooks.DeliveryRows})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range list {
			answers = n.Answers
		}
		return len(answers) > 0
	})
	if a := answers[0]; a.Status != 0 || !strings.Contains(a.Why, "not on the public internet") || len(l.got()) > 0 {
		t.Errorf("it was called %d times: %+v", len(l.got()), a)
	}
}
