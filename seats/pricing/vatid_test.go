package pricing_test

import (
	"testing"

	"github.com/usherbox/usher/seats/pricing"
)

func TestReadVATID_KnowsTheCheckDigitsOfEachCountry(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"GB": true, "CH": true, "NO": true}
	for _, id := range []string{
		"ATU13585627", "BE0428759497", "BG175074752", "BG7523169263", "CHE107787577", "CHE-107.787.577 MWST", "CY10259033P", "CZ25123891", "CZ7103192745", "CZ640903926",
		"DE136695976", "DK13585628", "EE100931558", "EL094259216", "GR 094259216", "ES54362315K", "ESX5253868R", "ESJ99216582", "ESM1234567L", "FI20774740", "FR40303265045", "FR 23 334 175 221",
		"GB980780684", "HR33392005961", "HU12892312", "IE6433435F", "IE6433435OA", "IE8D79739I", "IT00743110157", "LT119511515", "LT100001919017", "LU15027442",
		"LV40003521600", "MT11679112", "NL004495445B01", "NO923609016MVA", "PL8567346215", "PT501964843", "RO18547290", "SE123456789701", "SI50223054", "SK2022749619",
	} {
		short, country, err := pricing.ReadVATID(id)
		if err != nil || len(country) != 2 {
			t.Errorf("%s: %q of %q, %v", id, short, country, err)
		}
		seen[country] = true
		mistyped := []byte(short)
		if mistyped[6] >= '0' && mistyped[6] <= '9' {
			mistyped[6] = '0' + (mistyped[6]-'0'+1)%10
		}
		if _, _, err := pricing.ReadVATID(string(mistyped)); err == nil && string(mistyped) != short && id != "BG7523169263" && id != "CZ640903926" {
			t.Errorf("%s is taken for right", mistyped)
		}
	}
	for _, c := range pricing.Rates().Countries {
		if !seen[c.Code] {
			t.Errorf("no VAT number of %s was checked", c.Code)
		}
	}
	for _, id := range []string{"", "DE", "DE1", "DE136695977", "US123456789", "XX1234", "ATU1358562", "DE13669597A", "FR4030326504\x00", "ΔE136695976", "IE6433435\xff"} {
		if short, _, err := pricing.ReadVATID(id); err == nil {
			t.Errorf("%q is taken for %s", id, short)
		}
	}
}

func FuzzReadVATID(f *testing.F) {
	f.Add("ATU13585627")
	f.Add("IE8D79739I")
	f.Fuzz(func(t *testing.T, text string) {
		if id, _, err := pricing.ReadVATID(text); err == nil {
			if again, _, err := pricing.ReadVATID(id); err != nil || again != id {
				t.Errorf("%q is %q, and that is %q, %v", text, id, again, err)
			}
		}
	})
}

func TestRates_HasEachCountryOfTheUnion(t *testing.T) {
	t.Parallel()
	table := pricing.Rates()
	if len(table.Countries) != 27 || table.Source == "" || table.Date == "" {
		t.Errorf("%d countries of %q, %q", len(table.Countries), table.Source, table.Date)
	}
	for _, c := range table.Countries {
		for _, r := range append([]int{c.Standard}, c.Reduced...) {
			if r < 2000 || r > 27_000 || r > c.Standard {
				t.Errorf("%s has a rate of %s %%", c.Name, pricing.Rate(r))
			}
		}
	}
}
