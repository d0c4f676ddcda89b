package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Money writes an amount of minor units in English, for pages that are not translated.
func Money(minor int64, iso string) string { return MoneyIn(context.Background(), minor, iso) }

// MoneyIn writes an amount of minor units as people do in the language of a page: "€250", "€12.50", "CHF 25", "¥3,000".
func MoneyIn(ctx context.Context, minor int64, iso string) string {
	return text.Money(ctx, minor, pricing.Decimals(iso), iso)
}

// MinusIn is an amount that is taken off, with its sign before it in every direction.
func MinusIn(ctx context.Context, minor int64, iso string) string {
	off := "−" + MoneyIn(ctx, minor, iso)
	if text.Direction(ctx) == "rtl" {
		return "\u2066" + off + "\u2069" // a left-to-right isolate (UAX #9)
	}
	return off
}

// MoneyForm is how a page in a language writes an amount of a currency, for its scripts: "€%s", "%s €", "CHF %s".
func MoneyForm(ctx context.Context, iso string) string {
	return strings.Replace(text.Money(ctx, 1, 0, iso), text.Number(ctx, 1), "%s", 1)
}

// Price is money in English, in words where there is nothing to pay.
func Price(minor int64, iso string) string { return PriceIn(context.Background(), minor, iso) }

// PriceIn is money in the language of a page, in words where there is nothing to pay.
func PriceIn(ctx context.Context, minor int64, iso string) string {
	if minor == 0 {
		return text.T(ctx, "no charge")
	}
	return MoneyIn(ctx, minor, iso)
}

// Number writes a count with its thousands apart, in English.
func Number(n int) string { return text.Number(context.Background(), n) }

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
