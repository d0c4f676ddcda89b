package rush

import (
	"encoding/json"
	"math/rand/v2"
)

// wish is the body of a claim.
type wish struct {
	Seats    []string `json:"seats,omitempty"`
	Area     string   `json:"area,omitempty"`
	Quantity int      `json:"quantity,omitempty"`
	Best     int      `json:"best,omitempty"`
	Category string   `json:"category,omitempty"`

	scope scope // of a claim that leaves the choice to the box office
	last  bool  // if this is refused, the person goes home
}

func (w *wish) json() []byte {
	body, _ := json.Marshal(w) // strings and numbers always marshal
	return body
}

// mostTries is how often a person asks for seats that turn out to be somebody else's.
const mostTries = 1000

// size is how many seats the wish is for.
func (w *wish) size() int { return len(w.Seats) + w.Quantity + w.Best }

// blind is the wish of somebody who did not look at the map: places in an area, or the best of a category.
func (h *house) blind(party int, random *rand.Rand) wish {
	if len(h.areas) > 0 {
		a := random.IntN(len(h.areas))
		return wish{Area: h.areas[a], Quantity: party, scope: scope{-1, int16(a)}, last: true}
	}
	return h.best(random.IntN(len(h.categories)), party, true)
}

func (h *house) best(category, n int, last bool) wish {
	return wish{Best: n, Category: h.categories[category], scope: scope{int16(category), -1}, last: last}
}

func (h *house) these(seats []int32) wish {
	w := wish{scope: scope{-1, -1}}
	for _, idx := range seats {
		w.Seats = append(w.Seats, h.seats[idx].label)
	}
	return w
}

// first is the wish of somebody who takes the first free seat. Who was too late before goes a little further: one of
// the first 2, 4, 8 and so on. Who sees none asks once more, to be told by the box office and not by a picture.
func (h *house) first(v view, tries int, random *rand.Rand) wish {
	if idx := v.first(random.IntN(1 << min(tries, 6))); idx >= 0 {
		return h.these([]int32{idx})
	}
	return h.best(random.IntN(len(h.categories)), 1, true)
}

// pointOrBest is the wish of a party before a map: half of them point at seats, the others ask for the best of a
// category that has enough. Where there is too little for all, they take what there is.
func (h *house) pointOrBest(v view, party, tries int, random *rand.Rand) wish {
	if tries < 4 && random.IntN(2) == 0 {
		if seats := v.pick(h, party, random); seats != nil {
			return h.these(seats)
		}
	}
	from, most := random.IntN(len(v.free)), -1
	for i := range v.free {
		k := (from + i) % len(v.free)
		if v.free[k] >= party {
			return h.best(k, party, false)
		}
		if most < 0 || v.free[k] > v.free[most] {
			most = k
		}
	}
	if v.free[most] == 0 {
		return h.best(from, 1, true)
	}
	return h.best(most, v.free[most], false)
}
