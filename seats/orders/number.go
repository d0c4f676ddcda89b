package orders

import (
	"strings"

	"github.com/usherbox/usher/seats"
)

// numberLetters are Crockford's: none looks like a digit, and none makes a word of the others.
const numberLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// numberDigits are the first 35 bits of an order's id, five a letter.
const numberDigits = 7

// Number is what people call an order by, on paper and on the phone: seven letters of its id and one that checks them,
// such as K7QM-4XPD. It is no secret and opens nothing. Two orders of an event of 50,000 have the same once in thirty events;
// a search finds both.
func (o Order) Number() string { return Number(o.ID) }

// Number is the number of the order with an id.
func Number(id seats.ID) string {
	var bits uint64
	for _, b := range id[:5] {
		bits = bits<<8 | uint64(b)
	}
	var letters [numberDigits + 1]byte
	check := 0
	for i := range numberDigits {
		digit := int(bits >> (35 - 5*i) & 31)
		letters[i] = numberLetters[digit]
		check += (2*i + 1) * digit
	}
	letters[numberDigits] = numberLetters[check%32]
	return string(letters[:4]) + "-" + string(letters[4:])
}

// spoken reads letters as people say and type them.
var spoken = strings.NewReplacer("O", "0", "I", "1", "L", "1", "-", "", " ", "")

// numbered returns the least and the greatest id of an order with a number, as it is typed; ok is false if it is none.
func numbered(typed string) (least, greatest seats.ID, ok bool) {
	letters := spoken.Replace(strings.ToUpper(typed))
	if len(letters) != numberDigits+1 {
		return least, greatest, false
	}
	var bits uint64
	for i := range numberDigits {
		digit := strings.IndexByte(numberLetters, letters[i])
		if digit < 0 {
			return seats.ID{}, seats.ID{}, false
		}
		bits = bits<<5 | uint64(digit)
	}
	for i := range 5 {
		least[i] = byte(bits << 5 >> (8 * (4 - i)))
	}
	greatest = least
	greatest[4] |= 31
	for i := 5; i < len(greatest); i++ {
		greatest[i] = 255
	}
	if Number(least) != letters[:4]+"-"+letters[4:] {
		return seats.ID{}, seats.ID{}, false
	}
	return least, greatest, true
}
