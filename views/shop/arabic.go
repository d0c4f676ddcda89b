package shop

import "strings"

// forms are the letters that Arabic and Persian are written with. Each has a form of its own before, between and after others:
// Unicode keeps them in the order isolated, final, initial, medial. Letters with two forms do not join the next one.
var forms = map[rune]struct{ first, count rune }{
	'ء': {0xfe80, 1}, 'آ': {0xfe81, 2}, 'أ': {0xfe83, 2}, 'ؤ': {0xfe85, 2}, 'إ': {0xfe87, 2}, 'ئ': {0xfe89, 4}, 'ا': {0xfe8d, 2}, 'ب': {0xfe8f, 4}, 'ة': {0xfe93, 2},
	'ت': {0xfe95, 4}, 'ث': {0xfe99, 4}, 'ج': {0xfe9d, 4}, 'ح': {0xfea1, 4}, 'خ': {0xfea5, 4}, 'د': {0xfea9, 2}, 'ذ': {0xfeab, 2}, 'ر': {0xfead, 2}, 'ز': {0xfeaf, 2},
	'س': {0xfeb1, 4}, 'ش': {0xfeb5, 4}, 'ص': {0xfeb9, 4}, 'ض': {0xfebd, 4}, 'ط': {0xfec1, 4}, 'ظ': {0xfec5, 4}, 'ع': {0xfec9, 4}, 'غ': {0xfecd, 4}, 'ف': {0xfed1, 4},
	'ق': {0xfed5, 4}, 'ك': {0xfed9, 4}, 'ل': {0xfedd, 4}, 'م': {0xfee1, 4}, 'ن': {0xfee5, 4}, 'ه': {0xfee9, 4}, 'و': {0xfeed, 2}, 'ى': {0xfeef, 2}, 'ي': {0xfef1, 4},
	'پ': {0xfb56, 4}, 'چ': {0xfb7a, 4}, 'ژ': {0xfb8a, 2}, 'ک': {0xfb8e, 4}, 'گ': {0xfb92, 4}, 'ی': {0xfbfc, 4},
}

// lamAlef are the signs of lam with an alef behind it, isolated; the next one is final.
var lamAlef = map[rune]rune{'آ': 0xfef5, 'أ': 0xfef7, 'إ': 0xfef9, 'ا': 0xfefb}

// isVowel reports whether a sign stands above or below a letter. Paper has none: readers do without.
func isVowel(r rune) bool { return r >= 0x64b && r <= 0x652 || r == 0x670 }

// joined writes Arabic letters in the forms that join.
func joined(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return forms[r].count > 0 }) {
		return text
	}
	letters := []rune(strings.Map(func(r rune) rune {
		if isVowel(r) {
			return -1
		}
		return r
	}, text))
	var b strings.Builder
	before := false // the letter before joins this one
	for i := 0; i < len(letters); i++ {
		f, final := forms[letters[i]], rune(0)
		if before && f.count > 1 {
			final = 1
		}
		switch next := following(letters, i); {
		case f.count == 0:
			b.WriteRune(letters[i])
			before = letters[i] == 'ـ'
		case letters[i] == 'ل' && lamAlef[next] > 0:
			b.WriteRune(lamAlef[next] + final)
			before = false
			i++
		case f.count == 4 && (forms[next].count > 1 || next == 'ـ'):
			b.WriteRune(f.first + 2 + final)
			before = true
		default:
			b.WriteRune(f.first + final)
			before = false
		}
	}
	return b.String()
}

// following is the letter behind another; 0 at the end.
func following(letters []rune, i int) rune {
	if i+1 < len(letters) {
		return letters[i+1]
	}
	return 0
}
