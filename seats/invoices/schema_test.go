package invoices_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/pricing"
)

// schema is the XML schema of Factur-X, profile EN 16931, where "make schema" puts it.
const schema = "../../bin/schema/Factur-X_1.07.3_EN16931.xsd"

// keeps holds XML against the schema, and returns what is wrong with it.
func keeps(t *testing.T, content []byte) (wrong string) {
	t.Helper()
	if _, err := os.Stat(schema); err != nil {
		t.Fatalf("the schema is missing: run make schema: %v", err)
	}
	file := filepath.Join(t.TempDir(), "invoice.xml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "xmllint", "--nonet", "--noout", "--schema", schema, file).CombinedOutput()
	if _, is := err.(*exec.ExitError); err != nil && !is {
		t.Fatalf("xmllint is missing: run make schema: %v", err)
	} else if err != nil {
		return string(out)
	}
	return ""
}

// buys places an order for a company, which is paid at the door unless the form says something else.
func (h *fixture) buys(t *testing.T, country, vatID string, with func(*orders.Form)) (code string) {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 3})
	if err != nil {
		t.Fatal(err)
	}
	f := orders.Form{
		Hold: hold.ID, Seats: hold.Seats, Name: "Ann Ørsted", Email: "ann@example.org", Verified: "ann@example.org", Method: payments.Door,
		Billing: &orders.Billing{Company: "Acme & Co", Street: "Lane 2", Postcode: "8010", City: "Graz", Country: country, VATID: vatID},
		Seller:  orders.Seller{Country: "AT", VATID: "ATU13585627"},
	}
	if with != nil {
		with(&f)
	}
	if payments.Ahead(f.Method) {
		p, err := h.orders.Pay(t.Context(), h.sale, who, f)
		if err != nil {
			t.Fatal(err)
		}
		return p.Code
	}
	if code, err = h.orders.Place(t.Context(), h.sale, who, f); err != nil {
		t.Fatal(err)
	}
	return code
}

// electronic are orders of companies.
var electronic = map[string]struct {
	settings events.Settings
	rules    string // of prices and tax
	buys     func(t *testing.T, h *fixture) (code string)
	want     string // documents
}{
	"no tax": {buys: func(t *testing.T, h *fixture) string { return h.buys(t, "AT", "", nil) }, want: "invoice 1 75.00"},
	"tax inside, a fee, a discount, and credit notes": {
		settings: events.Settings{Fees: seats.Fees{Ticket: 150, Percent: 333}},
		rules:    `{"tax": {"name": "VAT", "country": "AT", "rate": 13000, "fee_rate": 20000}}`,
		buys: func(t *testing.T, h *fixture) string {
			if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
				return pricing.CreateCodes(t.Context(), tx, h.sale.Event.ID, pricing.Code{Discount: pricing.Discount{Percent: 10_00}}, []string{"TENPERCENT"})
			}); err != nil {
				t.Fatal(err)
			}
			code := h.buys(t, "AT", "ATU12345675", func(f *orders.Form) { f.Code = "tenpercent" })
			if _, _, err := h.orders.MarkPaid(t.Context(), code, nil); err != nil {
				t.Fatal(err)
			}
			o := h.find(t, code)
			if err := h.orders.Refund(t.Context(), o, "k", 100, "late"); err != nil {
				t.Fatal(err)
			}
			if err := h.orders.RevokeBy(t.Context(), h.sale, o, orders.Revoking{}, o.Tickets[0].ID); err != nil {
				t.Fatal(err)
			}
			return code
		},
		want: "invoice 1 74.25, credit 2 1.00, credit 3 19.75",
	},
	"tax on top": {
		rules: `{"tax": {"name": "VAT", "rate": 7000, "fee_rate": 19000, "on_top": true}}`,
		buys:  func(t *testing.T, h *fixture) string { return h.buys(t, "DE", "DE136695976", nil) }, want: "invoice 1 80.25",
	},
	"reverse charge": {
		settings: events.Settings{Online: seats.Online{On: true}},
		rules:    `{"tax": {"name": "VAT", "rate": 20000, "fee_rate": 20000}}`,
		buys: func(t *testing.T, h *fixture) string {
			code := h.buys(t, "DE", "DE136695976", nil)
			if d := h.of(t, code)[0]; !d.Reverse || d.Tax != 0 {
				t.Errorf("the invoice is %+v", d)
			}
			return code
		},
		want: "invoice 1 62.49",
	},
	"a part by gift card": {
		rules: `{"tax": {"name": "VAT", "rate": 10000, "fee_rate": 20000}}`,
		buys: func(t *testing.T, h *fixture) string {
			bank, ledger := stripetest.New(t), credit.New(h.db)
			h.orders.Payments.Accept(payments.Card, stripe.New("sk_test_1", stripetest.Secret, bank.URL))
			h.orders.Payments.Accept(payments.Credit, credit.Payments{Ledger: ledger})
			codes, err := ledger.Vouchers(t.Context(), 1, credit.Amount{Minor: 2000, Currency: "EUR"}, nil)
			if err == nil {
				_, err = ledger.Redeem(t.Context(), "ann@example.org", codes[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			code := h.buys(t, "AT", "ATU12345675", func(f *orders.Form) { f.Method, f.Account, f.Credit = payments.Card, f.Email, 2000 })
			all := bank.Sessions()
			bank.Pays(all[len(all)-1].ID, false)
			p, err := h.orders.Payments.Find(t.Context(), code)
			if err == nil {
				err = h.orders.Payments.Ask(t.Context(), p)
			}
			if err != nil {
				t.Fatal(err)
			}
			return code
		},
		want: "invoice 1 75.00",
	},
	"a donation and postage": {
		rules: `{"tax": {"name": "VAT", "rate": 10000, "fee_rate": 20000}, "extras": {"donations": [500], "postage": 350, "postage_rate": 20000}}`,
		buys: func(t *testing.T, h *fixture) string {
			return h.buys(t, "AT", "ATU12345675", func(f *orders.Form) {
				f.Donation, f.Post = 500, &orders.Address{Street: "Lane 2", Postcode: "8010", City: "Graz", Country: "AT"}
			})
		},
		want: "invoice 1 83.50",
	},
	"three for two with an absorbed fee": {
		settings: events.Settings{Fees: seats.Fees{Ticket: 150, Absorbed: true}},
		rules:    `{"tax": {"name": "VAT", "rate": 10000, "fee_rate": 20000}, "offers": [{"number": 1, "kind": "multi", "count": 3, "pay": 2}]}`,
		buys:     func(t *testing.T, h *fixture) string { return h.buys(t, "AT", "ATU12345675", nil) },
		want:     "invoice 1 50.00",
	},
}

func TestXML_KeepsTheSchemaOfFacturX(t *testing.T) {
	t.Parallel()
	for name, c := range electronic {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := seats.DefaultPolicy
			policy.CancelFee = 500
			c.settings.Policy = &policy
			h := open(t, c.settings, c.rules)
			list := h.of(t, c.buys(t, h))
			if got := words(list); got != c.want {
				t.Errorf("the documents are %q, want %q", got, c.want)
			}
			for _, d := range list {
				content, err := d.XML()
				if err != nil {
					t.Fatal(err)
				}
				if wrong := keeps(t, content); wrong != "" {
					t.Errorf("%s %s: %s\n%s", d.Kind, d.Label, wrong, content)
				}
			}
		})
	}
	spoiled := mixed(invoices.Invoice)
	spoiled.Label = ""
	content, err := spoiled.XML()
	if err != nil {
		t.Fatal(err)
	}
	if keeps(t, content) == "" {
		t.Error("an invoice without a number keeps the schema")
	}
}
