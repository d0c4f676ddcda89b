package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/wallets/wallettest"
)

func TestWallets_SettingsThatDoNotFitEndServeWithASentence(t *testing.T) {
	t.Parallel()
	keys := wallettest.NewApple(t, nil)
	account, _ := wallettest.NewGoogle(t)
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certificate, key, wwdr, google := file("pass.pem", keys.Certificate), file("pass.key", keys.Key), file("wwdr.pem", keys.WWDR), file("account.json", account)
	for want, env := range map[string]map[string]string{
		"are of use together alone":                            {"USHER_APPLE_PASS_CERTIFICATE_FILE": certificate, "USHER_APPLE_PASS_KEY_FILE": key},
		"passes for Apple Wallet: the key does not fit":        {"USHER_APPLE_PASS_CERTIFICATE_FILE": wwdr, "USHER_APPLE_PASS_KEY_FILE": key, "USHER_APPLE_WWDR_CERTIFICATE_FILE": wwdr},
		"--google-wallet-issuer are of use together":           {"USHER_GOOGLE_WALLET_KEY_FILE": google},
		"tickets in Google Wallet: the issuer":                 {"USHER_GOOGLE_WALLET_KEY_FILE": google, "USHER_GOOGLE_WALLET_ISSUER": "box"},
		"tickets in Google Wallet: the key of the service acc": {"USHER_GOOGLE_WALLET_KEY_FILE": key, "USHER_GOOGLE_WALLET_ISSUER": wallettest.Issuer},
	} {
		if _, err := tryWith(t, env, "serve"); err == nil || !misused(err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("with %v: %v, and not %q", env, err, want)
		}
	}
	cfg := Config{PassCertificate: keys.Certificate, PassKey: keys.Key, PassIssuer: keys.WWDR, GoogleKey: account, GoogleIssuer: wallettest.Issuer, URL: "https://box.example.org"}
	if err := cfg.checkWallets(time.Now()); err != nil || cfg.apple == nil || cfg.google == nil {
		t.Fatalf("settings that fit are refused: %v", err)
	}
	var log bytes.Buffer
	warnOfPasses(&cfg, time.Now(), slog.New(slog.NewTextHandler(&log, nil)))
	if log.Len() > 0 {
		t.Errorf("without a reason the log warns: %s", &log)
	}
	cfg.URL = ""
	warnOfPasses(&cfg, time.Now().AddDate(0, 11, 15), slog.New(slog.NewTextHandler(&log, nil)))
	if !strings.Contains(log.String(), "ends soon") || !strings.Contains(log.String(), "https") {
		t.Errorf("a certificate that ends soon, without https: %s", &log)
	}
}
