package views

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/usherbox/usher/seats/pricing"
)

var english = message.NewPrinter(language.English)

// Money writes an amount of minor units as people do: "€250", "€12.50", "CHF 25", "¥3,000".
func Money(minor int64, iso string) string {
	digits := pricing.Decimals(iso)
	whole, scale := minor, int64(1)
	for range digits {
		whole, scale = whole/10, scale*10
	}
	text := english.Sprint(whole)
	if rest := minor % scale; rest != 0 {
		text += fmt.Sprintf(".%0*d", digits, max(rest, -rest))
	}
	return Symbol(iso) + text
}

// Symbol is what stands before an amount, with a space that does not break where it ends in words: "€", "CHF ".
func Symbol(iso string) string {
	sign := iso
	if unit, err := currency.ParseISO(iso); err == nil {
		sign = fmt.Sprint(currency.NarrowSymbol(unit))
	}
	if strings.IndexFunc(sign, unicode.IsLetter) >= 0 {
		sign += "\u00a0"
	}
	return sign
}

// Price is money, in words where there is nothing to pay. "Free" means seats here.
func Price(minor int64, iso string) string {
	if minor == 0 {
		return "no charge"
	}
	return Money(minor, iso)
}

// Number writes a count with its thousands apart.
func Number(n int) string { return english.Sprint(n) }

// Counted is a number of things in words: "1 seat", "3 seats".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Ordinal is a place in words: 1st, 2nd, 113th.
func Ordinal(n int) string {
	end := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return Number(n) + end
}

// Decimal writes a number as addresses have it.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

func Number64(n int64) string { return Number(int(n)) }
