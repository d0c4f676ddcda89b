package views

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/usherbox/usher/seats"
)

var english = message.NewPrinter(language.English)

// money writes an amount of minor units as people do: "€250", "€12.50", "CHF 25", "¥3,000".
func money(minor int64, iso string) string {
	digits := seats.Decimals(iso)
	whole, scale := minor, int64(1)
	for range digits {
		whole, scale = whole/10, scale*10
	}
	text := english.Sprint(whole)
	if rest := minor % scale; rest != 0 {
		text += fmt.Sprintf(".%0*d", digits, max(rest, -rest))
	}
	return symbol(iso) + text
}

// symbol is what stands before an amount, with a space that does not break where it ends in words: "€", "CHF ".
func symbol(iso string) string {
	sign := iso
	if unit, err := currency.ParseISO(iso); err == nil {
		sign = fmt.Sprint(currency.NarrowSymbol(unit))
	}
	if strings.IndexFunc(sign, unicode.IsLetter) >= 0 {
		sign += "\u00a0"
	}
	return sign
}

// price is money, in words where there is nothing to pay. "Free" means seats here.
func price(minor int64, iso string) string {
	if minor == 0 {
		return "no charge"
	}
	return money(minor, iso)
}

// feeLine names a fee, if there is one. static/js/hold.js says the same.
func feeLine(minor int64, iso string) string {
	if minor == 0 {
		return ""
	}
	return money(minor, iso) + " fees"
}

// number writes a count with its thousands apart.
func number(n int) string { return english.Sprint(n) }

// counted is a number of things in words: "1 seat", "3 seats".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return number(n) + " " + thing + "s"
}
