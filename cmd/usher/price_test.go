package main

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestPricesAreReadToTheCent(t *testing.T) {
	t.Parallel()
	prices := map[string]int64{}
	for _, text := range []string{"A=25", "B=25.5", "C=0.05", "D=1000000.00"} {
		if err := addPrice(prices, text); err != nil {
			t.Error(err)
		}
	}
	if prices["A"] != 2500 || prices["B"] != 2550 || prices["C"] != 5 || prices["D"] != 100000000 {
		t.Errorf("got %v", prices)
	}
	for _, text := range []string{"", "A", "=5", "A=", "A=-5", "A=1.234", "A=1,50", "A=1e3", "A=+1", "A=99999999999999999999"} {
		if err := addPrice(prices, text); err == nil {
			t.Errorf("%q was taken for a price", text)
		}
	}
	err := setPrices(&seats.Plan{Categories: []seats.Category{{Key: "A"}}}, map[string]int64{"Z": 1})
	if err == nil || !strings.Contains(err.Error(), "it has A") {
		t.Errorf("an unknown category got %v", err)
	}
}
