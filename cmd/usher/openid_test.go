package main

import "testing"

func TestSettings_AProviderOfOpenIDIsWholeOrRefused(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{OIDCClient: "usher"}, {OIDCSecret: "x"}, {OIDCName: "Playhouse ID"}, {OIDCIssuer: "https://accounts.example.org"}, {OIDCIssuer: "accounts.example.org", OIDCClient: "usher"},
	} {
		if err := cfg.checkProvider(); !misused(err) {
			t.Errorf("%q, %q, %q: %v", cfg.OIDCIssuer, cfg.OIDCClient, cfg.OIDCName, err)
		}
	}
	none, house := Config{}, Config{OIDCIssuer: "https://accounts.example.org", OIDCClient: "usher", OIDCSecret: "x"}
	if err := none.checkProvider(); err != nil || none.provider != nil {
		t.Errorf("without a provider: %v, %v", none.provider, err)
	}
	if err := house.checkProvider(); err != nil || house.provider.Name != "accounts.example.org" {
		t.Errorf("with one: %v, %v", house.provider, err)
	}
}
