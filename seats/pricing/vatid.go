package pricing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// vatIDs are the formats of VAT IDentification numbers, without the country's letters, and their check digits.
var vatIDs = map[string]struct {
	format *regexp.Regexp
	check  func(string) bool
}{
	"AT": {re(`U\d{8}`), checkAT},
	"BE": {re(`[01]\d{9}`), func(n string) bool { return 97-number(n[:8])%97 == number(n[8:]) }},
	"BG": {re(`\d{9,10}`), checkBG},
	"CH": {re(`E\d{9}(MWST|TVA|IVA)?`), func(n string) bool { return elevenComplement(n[1:10], 5, 4, 3, 2, 7, 6, 5, 4) }},
	"CY": {re(`\d{8}[A-Z]`), checkCY},
	"CZ": {re(`\d{8,10}`), checkCZ},
	"DE": {re(`[1-9]\d{8}`), iso7064},
	"DK": {re(`[1-9]\d{7}`), func(n string) bool { return weighted(n, 2, 7, 6, 5, 4, 3, 2, 1)%11 == 0 }},
	"EE": {re(`\d{9}`), func(n string) bool { return weighted(n, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0 }},
	"EL": {re(`\d{9}`), func(n string) bool { return weighted(n, 256, 128, 64, 32, 16, 8, 4, 2)%11%10 == digit(n, 8) }},
	"ES": {re(`[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z]`), checkES},
	"FI": {re(`\d{8}`), func(n string) bool { return weighted(n, 7, 9, 10, 5, 8, 4, 2, 1)%11 == 0 }},
	"FR": {re(`[0-9A-HJ-NP-Z]{2}\d{9}`), checkFR},
	"GB": {re(`\d{9}`), checkGB},
	"HR": {re(`\d{11}`), iso7064},
	"HU": {re(`\d{8}`), func(n string) bool { return weighted(n, 9, 7, 3, 1, 9, 7, 3, 1)%10 == 0 }},
	"IE": {re(`\d{7}[A-W][A-IW]?|\d[A-Z+*]\d{5}[A-W]`), checkIE},
	"IT": {re(`\d{11}`), luhn},
	"LT": {re(`\d{9}|\d{12}`), checkLT},
	"LU": {re(`\d{8}`), func(n string) bool { return number(n[:6])%89 == number(n[6:]) }},
	"LV": {re(`\d{11}`), checkLV},
	"MT": {re(`\d{8}`), func(n string) bool { return 37-weighted(n, 3, 4, 6, 7, 8, 9)%37 == number(n[6:]) }},
	"NL": {re(`\d{9}B\d{2}`), checkNL},
	"NO": {re(`\d{9}(MVA)?`), func(n string) bool { return elevenComplement(n[:9], 3, 2, 7, 6, 5, 4, 3, 2) }},
	"PL": {re(`\d{10}`), func(n string) bool { return weighted(n, 6, 5, 7, 2, 3, 4, 5, 6, 7)%11 == digit(n, 9) }},
	"PT": {re(`\d{9}`), func(n string) bool { return (11-weighted(n, 9, 8, 7, 6, 5, 4, 3, 2)%11)%11%10 == digit(n, 8) }},
	"RO": {re(`[1-9]\d{1,9}`), checkRO},
	"SE": {re(`\d{10}\d{2}`), func(n string) bool { return luhn(n[:10]) && n[10:] != "00" }},
	"SI": {re(`[1-9]\d{7}`), checkSI},
	"SK": {re(`[1-9]\d[2-47-9]\d{7}`), func(n string) bool { return number(n)%11 == 0 }},
	"XI": {re(`\d{9}`), checkGB},
}

func re(format string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + format + `)$`) }

// vatPrefixes are countries with other letters in their VAT numbers than in ISO 3166-1.
var vatPrefixes = map[string]string{"GR": "EL"}

// ReadVATID returns a VAT IDentification number in its short form, and the country of it (ISO 3166-1). Format and check digits
// are right; that a business has this number is not known.
func ReadVATID(text string) (id, country string, err error) {
	id = strings.ToUpper(strings.NewReplacer(" ", "", "\u00a0", "", ".", "", "-", "", "/", "").Replace(text))
	if len(id) < 4 || len(id) > 20 {
		return "", "", fmt.Errorf("%q is not a VAT number such as ATU13585627", text)
	}
	country = id[:2]
	if prefix, other := vatPrefixes[country]; other {
		id = prefix + id[2:]
	}
	kind, known := vatIDs[id[:2]]
	if !known {
		return "", "", fmt.Errorf("%q does not begin with a country that we know, such as DE or FR", text)
	}
	if !kind.format.MatchString(id[2:]) {
		return "", "", fmt.Errorf("%q does not have the format of a VAT number of %s", text, country)
	}
	if !kind.check(id[2:]) {
		return "", "", fmt.Errorf("the check digit of %q is wrong: a digit or letter may be mistyped", text)
	}
	if country == "EL" {
		country = "GR"
	}
	return id, country, nil
}

// ReverseCharge reports whether a business with a VAT number of one country owes the tax on what a team of another country
// sells to it. Both are in the European Union, or Northern Ireland for goods, which tickets are not.
func ReverseCharge(team, buyer string) bool {
	_, of := Rates().Country(team)
	_, to := Rates().Country(buyer)
	return of && to && team != buyer
}

func digit(n string, at int) int { return int(n[at] - '0') }

func number(n string) int {
	found, _ := strconv.Atoi(n)
	return found
}

// weighted is the sum of the first digits, each times its weight.
func weighted(n string, weights ...int) (sum int) {
	for i, w := range weights {
		sum += digit(n, i) * w
	}
	return sum
}

// elevenComplement reports whether the last digit complements the weighted others to a multiple of 11.
func elevenComplement(n string, weights ...int) bool {
	return (11-weighted(n, weights...)%11)%11 == digit(n, len(n)-1)
}

func luhn(n string) bool {
	sum := 0
	for i := range n {
		d := digit(n, len(n)-1-i)
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

// iso7064 is the check of ISO 7064, MOD 11,10.
func iso7064(n string) bool {
	p := 10
	for i := range len(n) - 1 {
		s := (digit(n, i) + p) % 10
		if s == 0 {
			s = 10
		}
		p = s * 2 % 11
	}
	return (11-p)%10 == digit(n, len(n)-1)
}

func checkAT(n string) bool {
	sum := 4
	for i := range 7 {
		d := digit(n, i+1) * (1 + i%2)
		sum += d/10 + d%10
	}
	return (10-sum%10)%10 == digit(n, 8)
}

func checkBG(n string) bool {
	if len(n) == 9 {
		r := weighted(n, 1, 2, 3, 4, 5, 6, 7, 8) % 11
		if r == 10 {
			r = weighted(n, 3, 4, 5, 6, 7, 8, 9, 10) % 11 % 10
		}
		return r == digit(n, 8)
	}
	last := digit(n, 9) // a citizen, a foreigner, or another
	return weighted(n, 2, 4, 8, 5, 10, 9, 7, 3, 6)%11%10 == last || weighted(n, 21, 19, 17, 13, 11, 9, 7, 3, 1)%10 == last ||
		(11-weighted(n, 4, 3, 2, 7, 6, 5, 4, 3, 2)%11)%11 == last
}

func checkCY(n string) bool {
	sum := 0
	for i := range 8 {
		d := digit(n, i)
		if i%2 == 0 {
			d = []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21}[d]
		}
		sum += d
	}
	return n[:2] != "12" && byte('A'+sum%26) == n[8]
}

// checkCZ checks companies and people. Numbers of nine digits from before 1954 have no check digit.
func checkCZ(n string) bool {
	switch {
	case len(n) == 8:
		check := 11 - weighted(n, 8, 7, 6, 5, 4, 3, 2)%11
		return n[0] != '9' && check%10 == digit(n, 7)
	case len(n) == 10:
		return number(n)%11 == 0 || number(n[:9])%11 == 10 && n[9] == '0'
	case n[0] == '6':
		return (8+weighted(n[1:], 8, 7, 6, 5, 4, 3, 2)%11)%10 == digit(n, 8)
	}
	return true
}

func checkES(n string) bool {
	const letters = "TRWAGMYFPDXBNJZSQVHLCKE"
	at := strings.IndexByte("XYZ", n[0])
	switch {
	case n[0] >= '0' && n[0] <= '9':
		return letters[number(n[:8])%23] == n[8]
	case at >= 0:
		return letters[number(strconv.Itoa(at)+n[1:8])%23] == n[8]
	case strings.IndexByte("KLM", n[0]) >= 0 && n[8] >= 'A':
		return letters[number(n[1:8])%23] == n[8] || spanish(n, true)
	}
	letter := strings.IndexByte("PQSWNR", n[0]) >= 0
	return strings.IndexByte("ABCDEFGHJNPQRSUVW", n[0]) >= 0 && (spanish(n, true) || !letter && spanish(n, false))
}

// spanish checks the control letter or digit of an organisation.
func spanish(n string, letter bool) bool {
	sum := 0
	for i := range 7 {
		d := digit(n, i+1)
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	control := (10 - sum%10) % 10
	if letter {
		return "JABCDEFGHI"[control] == n[8]
	}
	return byte('0'+control) == n[8]
}

// checkFR checks the number of the company. Only keys of two digits are computed from it.
func checkFR(n string) bool {
	key, err := strconv.Atoi(n[:2])
	return luhn(n[2:]) && (err != nil || (12+3*(number(n[2:])%97))%97 == key)
}

func checkGB(n string) bool {
	sum := weighted(n, 8, 7, 6, 5, 4, 3, 2) + number(n[7:])
	return sum%97 == 0 || (sum+55)%97 == 0
}

func checkIE(n string) bool {
	if n[1] < '0' || n[1] > '9' {
		n = "0" + n[2:7] + n[:1] + n[7:]
	}
	sum := weighted(n, 8, 7, 6, 5, 4, 3, 2)
	const letters = "WABCDEFGHIJKLMNOPQRSTUV"
	if len(n) == 9 {
		sum += 9 * strings.IndexByte(letters, n[8])
	}
	return letters[sum%23] == n[7]
}

func checkLT(n string) bool {
	last := len(n) - 1
	first, second := 0, 0
	for i := range last {
		first += digit(n, i) * (i%9 + 1)
		second += digit(n, i) * ((i+2)%9 + 1)
	}
	if first%11 == 10 {
		first = second % 11 % 10
	}
	return n[last-1] == '1' && first%11 == digit(n, last)
}

// checkLV checks companies. Of people, the first digits are a date.
func checkLV(n string) bool {
	if n[0] <= '3' {
		day, month := number(n[:2]), number(n[2:4])
		return n[:2] == "32" || day >= 1 && day <= 31 && month >= 1 && month <= 12
	}
	return weighted(n, 9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1)%11 == 3
}

// checkNL checks a number by its own digits, or, since 2020, the whole with its letters.
func checkNL(n string) bool {
	if weighted(n, 9, 8, 7, 6, 5, 4, 3, 2)%11 == digit(n, 8) {
		return true
	}
	rest := 0
	for _, r := range "NL" + n {
		d := int(r - '0')
		if r >= 'A' {
			d = int(r-'A') + 10
			rest = (rest*100 + d) % 97
			continue
		}
		rest = (rest*10 + d) % 97
	}
	return rest == 1
}

func checkRO(n string) bool {
	n = strings.Repeat("0", 10-len(n)) + n
	return weighted(n, 7, 5, 3, 2, 1, 7, 5, 3, 2)*10%11%10 == digit(n, 9)
}

func checkSI(n string) bool {
	r := 11 - weighted(n, 8, 7, 6, 5, 4, 3, 2)%11
	return r != 11 && r%10 == digit(n, 7)
}
