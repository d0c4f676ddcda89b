package main

import (
	"context"
	"fmt"
	"os"
	"testing"
)

var (
	folder      string
	testContext = context.Background() // the program is built once, for all tests
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "usher-mutant-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // what stays is only untidy
	os.Exit(code)
}
