package e2e

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/wallets/wallettest"
)

// Ann keeps her tickets on her phone: each has a pass for Apple Wallet, with the signature of the box office.
func TestWallet_TicketsAreKeptOnThePhone(t *testing.T) {
	t.Parallel()
	keys := wallettest.NewApple(t, nil)
	google, _ := wallettest.NewGoogle(t)
	o := ownOffice(t, "USHER_APPLE_PASS_CERTIFICATE="+keys.Certificate, "USHER_APPLE_PASS_KEY="+keys.Key, "USHER_APPLE_WWDR_CERTIFICATE="+keys.WWDR, "USHER_GOOGLE_WALLET_KEY="+google, "USHER_GOOGLE_WALLET_ISSUER="+wallettest.Issuer)
	slug := o.event(t, "theatre", "--demo-card", "--paid-ahead")
	for _, d := range []device{phone, desktop} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			ann := someone(t, o, "ann", d)
			ann.picksToPay(slug, 2)
			ann.card("Pay")
			ann.codes(2)
			ann.seesAfterReload("Add to Apple Wallet")
			check(t, ann.page.GetByText("Add to Google Wallet").First().ScrollIntoViewIfNeeded())
			ann.inBothLights("order-wallets")
			file, err := ann.page.ExpectDownload(func() error { return ann.page.GetByText("Add to Apple Wallet").First().Click() })
			check(t, err)
			if name := file.SuggestedFilename(); !strings.HasSuffix(name, ".pkpass") {
				t.Errorf("the pass is %s", name)
			}
			check(t, file.Delete())
		})
	}
}
