// Package e2e drives the built program in a real browser. A test is a promise to the people who use Usher; it knows of
// the program what they know: its commands, its addresses and what stands on its pages.
package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/seatstest"
)

// What all tests share: the program, one box office that is open while they run, the driver of browsers, and one browser.
var (
	binary    string
	boxOffice *office
	driver    *playwright.Playwright
	browser   playwright.Browser
)

var figures = flag.String("figures", "", "print the figures of the map in a browser for plans of these `sizes`, separated by commas")

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	dir, err := seatstest.Folder()
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)

	if binary, err = build(dir); err != nil {
		return 1, err
	}
	unused = filepath.Join(dir, "unused")
	first := newOffice(unused)
	if err := errors.Join(os.Mkdir(unused, 0o755), seatstest.Furnish(unused), first.open(), first.close()); err != nil {
		return 1, err
	}
	boxOffice = newOffice(filepath.Join(dir, "shared"))
	if err := boxOffice.furnish(); err != nil {
		return 1, err
	}
	boxOffice.flags = []string{"--address-header", addressHeader}
	if err := boxOffice.open(); err != nil {
		return 1, err
	}
	defer boxOffice.close()

	closeBrowser, err := launch()
	if err != nil {
		return 1, err
	}
	defer closeBrowser()
	return m.Run(), nil
}

func build(dir string) (string, error) {
	path := filepath.Join(dir, "usher")
	cmd := exec.Command("go", "build", "-o", path, "../cmd/usher")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build usher: %w\n%s", err, out)
	}
	return path, nil
}

// launch starts the Playwright driver, which npm put into driver/, and one browser.
func launch() (stop func(), err error) {
	if err := useDriver(); err != nil {
		return nil, err
	}
	if err := playwright.Install(&playwright.RunOptions{SkipInstallBrowsers: true, Verbose: false}); err != nil {
		return nil, fmt.Errorf("the Playwright driver does not start (run \"make browser\"): %w", err)
	}
	if driver, err = playwright.Run(); err != nil {
		return nil, err
	}
	options := playwright.BrowserTypeLaunchOptions{
		ExecutablePath: chromium(),
		Args:           []string{"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"},
	}
	if !timed { // a page is there for seconds: to optimize its scripts costs more than it gives
		options.Args = append(options.Args, "--js-flags=--no-opt --no-maglev")
	}
	browser, err = driver.Chromium.Launch(options)
	if err != nil {
		_ = driver.Stop()
		return nil, fmt.Errorf("no Chromium starts (run \"make browser\"): %w", err)
	}
	return func() { _ = browser.Close(); _ = driver.Stop() }, nil
}

func useDriver() error {
	driver, err := filepath.Abs(filepath.Join("driver", "node_modules"))
	if err != nil {
		return err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return fmt.Errorf("the browser tests need Node 18 or newer: %w", err)
	}
	if err := os.Setenv("PLAYWRIGHT_DRIVER_PATH", driver); err != nil {
		return err
	}
	return os.Setenv("PLAYWRIGHT_NODEJS_PATH", node)
}

// chromium is the browser of the system if there is one, else (nil) the one Playwright installed. The one that has no windows
// does the same with a fifth less work; figures are those of the one that people have.
func chromium() *string {
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}
	if *figures != "" {
		names = append(names[1:], names[0])
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return &path
		}
	}
	return nil
}
