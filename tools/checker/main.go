// Command checker checks the public log of a sale. It is written from docs/audit-log.md alone, and shares no code with usher:
//
//	go run tools/checker/main.go https://tickets.example.org/events/evening/log [FILE with a checkpoint that was seen before]
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"net/http"
	"os"
	"strconv"
	"strings"
)

var problems int // found so far
func wrong(format string, args ...any) {
	problems++
	fmt.Printf("WRONG: "+format+"\n", args...)
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Println("cannot check:", err)
		os.Exit(2)
	}
	return v
}

func get(address string) []byte {
	a := must(http.Get(address))
	if a.StatusCode != http.StatusOK {
		must(0, fmt.Errorf("%s answers %s", address, a.Status))
	}
	return must(io.ReadAll(a.Body))
}

// root is the Merkle tree hash of RFC 6962, section 2.1.
func root(leaves [][]byte) [32]byte {
	if len(leaves) == 1 {
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	}
	k := 1 << (bits.Len(uint(len(leaves)-1)) - 1) // the largest power of two below their number
	left, right := root(leaves[:k]), root(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

// checkpoint opens a signed note, and returns the size and the root.
func checkpoint(text, key string) (size int, hash []byte) {
	body, signatures, _ := strings.Cut(text, "\n\n")
	body += "\n"
	vkey := strings.SplitN(strings.TrimSpace(key), "+", 3) // name, id, key
	name, public := vkey[0], must(base64.StdEncoding.DecodeString(vkey[len(vkey)-1]))
	signed := false
	for _, line := range strings.Split(signatures, "\n") {
		if value, ours := strings.CutPrefix(line, "— "+name+" "); ours {
			s := must(base64.StdEncoding.DecodeString(value))
			signed = signed || len(s) == 68 && len(public) == 33 && public[0] == 1 && ed25519.Verify(public[1:], []byte(body), s[4:])
		}
	}
	if !signed {
		wrong("a checkpoint is not signed by the key")
	}
	lines := strings.Split(body, "\n")
	return must(strconv.Atoi(lines[1])), must(base64.StdEncoding.DecodeString(lines[2]))
}

func bundleName(n int) (name string) {
	name = fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		name = fmt.Sprintf("x%03d/", n%1000) + name
	}
	return name
}

// seat is one during the replay, which is sale.
type seat struct {
	state    byte
	declared bool
	version  uint64
}

type sale struct {
	seats                []seat
	status               byte
	opens, at            int64
	open, presale        bool
	next                 uint64 // version
	part, parts, entries int    // of the leaf before
	counts               [6]uint32
}

func (s *sale) leaf(i int, b []byte) {
	if len(b) < 9 || b[0] != 1 && b[0] != 2 || b[0] == 1 && len(b) < 40 {
		wrong("leaf %d has an unknown form", i)
		return
	}
	u16, u32, u64 := binary.BigEndian.Uint16, binary.BigEndian.Uint32, binary.BigEndian.Uint64
	at := int64(u64(b[1:])) // of a statement
	if b[0] == 1 {
		at = int64(u64(b[9:]))
	}
	if at < s.at-5_000_000 {
		wrong("leaf %d has an earlier time than one before it", i)
	}
	s.at = max(s.at, at)
	if b[0] == 2 {
		s.presale = s.presale || strings.HasPrefix(string(b[9:]), "presale\n")
		return
	}
	version, part, parts, rules := u64(b[1:]), int(u16(b[17:])), int(u16(b[19:])), b[37]
	if first := s.part+1 >= s.parts; first && (version != s.next || part != 0) || !first && (version+1 != s.next || part != s.part+1 || parts != s.parts || s.entries != 1500 || rules != 0) {
		wrong("leaf %d is version %d part %d; a version is missing or stands twice", i, version, part)
	}
	shown := [4]uint32{u32(b[21:]), u32(b[25:]), u32(b[29:]), u32(b[33:])}
	b = b[38:]
	if rules == 1 {
		s.status, s.opens = b[0], int64(u64(b[1:]))
		if n := int(u32(b[9:])); n < len(s.seats) || n > 1<<20 {
			wrong("version %d has %d seats; there were %d", version, n, len(s.seats))
		} else {
			s.counts[0] += uint32(n - len(s.seats))
			s.seats = append(s.seats, make([]seat, n-len(s.seats))...)
		}
		b = b[13:]
	}
	s.open = s.open || s.status == 1 && (s.opens == math.MinInt64 || at >= s.opens)
	n := int(u16(b))
	if b = b[2:]; len(b) != 37*n {
		wrong("leaf %d has another length than its entries", i)
	}
	for ; len(b) >= 37; b = b[37:] {
		s.entry(version, int(u32(b)), b[4], bytes.Equal(b[5:37], make([]byte, 32)))
	}
	s.next, s.part, s.parts, s.entries = version+1, part, parts, n
	counts := [4]uint32{s.counts[0] + s.counts[2], s.counts[1] + s.counts[3], s.counts[4], s.counts[5]}
	if part+1 == parts && counts != shown {
		wrong("version %d was shown with %v; the seats are %v", version, shown, counts)
	}
}

func (s *sale) entry(version uint64, idx int, state byte, empty bool) {
	if idx >= len(s.seats) || state > 5 || empty != (state == 0) {
		wrong("version %d has an impossible entry for seat %d", version, idx)
		return
	}
	was := &s.seats[idx]
	if was.version == version && version > 0 || was.state == 4 && state == 4 {
		wrong("version %d changes seat %d twice, or sells it again", version, idx)
	}
	if taken := state == 1 || state == 3 || state == 4; !s.open && taken && !was.declared && was.state != 1 && was.state != 3 && !s.presale {
		wrong("version %d takes seat %d before the doors open, and no block was declared", version, idx)
	}
	s.counts[was.state]--
	s.counts[state]++
	*was = seat{state, state != 0 && state != 2 && (was.declared || state == 5 && !s.open), version}
}

func main() {
	prefix := strings.TrimSuffix(os.Args[1], "/")
	key := string(get(prefix + "/key"))
	size, hash := checkpoint(string(get(prefix+"/checkpoint")), key)
	var leaves [][]byte
	for n := 0; n*256 < size; n++ {
		name := bundleName(n)
		if left := size - n*256; left < 256 {
			name += fmt.Sprintf(".p/%d", left)
		}
		for b := get(prefix + "/tile/entries/" + name); len(b) >= 2; {
			end := min(len(b), 2+int(binary.BigEndian.Uint16(b)))
			leaves, b = append(leaves, b[2:end]), b[end:]
		}
	}
	if h := root(leaves); len(leaves) != size || !bytes.Equal(h[:], hash) {
		wrong("the leaves are not those of the signed root")
	}
	if len(os.Args) > 2 {
		before, old := checkpoint(string(must(os.ReadFile(os.Args[2]))), key)
		if before > len(leaves) {
			wrong("the log became shorter")
		} else if h := root(leaves[:before]); !bytes.Equal(h[:], old) {
			wrong("the log does not continue the one that was seen before")
		}
	}
	s := sale{at: math.MinInt64 / 2}
	for i, leaf := range leaves {
		s.leaf(i, leaf)
	}
	if problems == 0 {
		fmt.Printf("right: %d leaves, %d versions, %d seats\n", len(leaves), s.next, len(s.seats))
	}
	os.Exit(min(problems, 1))
}
