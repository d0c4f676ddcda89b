package publiclog

import (
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// stored is a tree as the library of the Go team stores it: an implementation that shares nothing with ours.
type stored []tlog.Hash

func (s stored) ReadHashes(indexes []int64) (list []tlog.Hash, err error) {
	for _, i := range indexes {
		list = append(list, s[i])
	}
	return list, nil
}

func (s *stored) add(t interface{ Fatal(...any) }, n int64, leaf []byte) {
	hashes, err := tlog.StoredHashes(n, leaf, *s)
	if err != nil {
		t.Fatal(err)
	}
	*s = append(*s, hashes...)
}

func TestTree_IsThatOfTheStandardHoweverItGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := int64(rapid.IntRange(1, 1200).Draw(t, "size"))
		var want stored
		tiles := map[string][]byte{}
		tr := newTree(0, nil)
		for n := range size {
			leaf := fmt.Appendf(nil, "leaf %d", n)
			want.add(t, n, leaf)
			tr.add(leaf, n, 0)
			if rapid.IntRange(0, 20).Draw(t, "ends") == 0 || n == size-1 {
				for _, c := range tr.changed() {
					tiles[fmt.Sprint(c.level, c.n)] = c.hashes
				}
				var edge []*tile // as another node reads it
				levels, numbers := edgeOf(tr.size)
				for i, level := range levels {
					edge = append(edge, &tile{level: int(level), n: numbers[i], hashes: tiles[fmt.Sprint(level, numbers[i])]})
				}
				root, err := tlog.TreeHash(tr.size, want)
				if err != nil || tr.root() != root {
					t.Fatalf("the root of %d leaves is %v, want %v (%v)", tr.size, tr.root(), root, err)
				}
				tr = newTree(tr.size, edge)
			}
		}
		for _, tile := range tlog.NewTiles(tileHeight, 0, size) {
			want, err := tlog.ReadTileData(tile, want)
			if have := tiles[fmt.Sprint(tile.L, tile.N)]; err != nil || len(have) < len(want) || string(have[:len(want)]) != string(want) {
				t.Fatalf("tile %s differs (%v)", tile.Path(), err)
			}
		}
	})
}

func TestLeaf_ReadsWhatItWroteAndNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Leaf{Kind: Version, Version: rapid.Uint64().Draw(t, "version"), At: rapid.Int64().Draw(t, "at"), Part: 1, Parts: 3, Sold: rapid.Uint32().Draw(t, "sold"), Entries: []Entry{}}
		if rapid.Bool().Draw(t, "rules") {
			l.Rules = &Rules{OnSale, AtOnce, 7}
		}
		for n := range rapid.IntRange(0, 5).Draw(t, "seats") {
			l.Entries = append(l.Entries, Entry{uint32(n), 4, [32]byte{1, 31: 9}})
		}
		b := l.Append(nil)
		back, err := ParseLeaf(b)
		if err != nil || fmt.Sprint(back.Version, back.At, back.Part, back.Parts, back.Sold, back.Entries, back.Rules == nil) != fmt.Sprint(l.Version, l.At, l.Part, l.Parts, l.Sold, l.Entries, l.Rules == nil) {
			t.Fatalf("%+v came back as %+v, %v", l, back, err)
		}
		if _, err := ParseLeaf(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a leaf that was cut is read")
		}
		if _, err := ParseLeaf(append(b, 0)); err == nil {
			t.Fatal("a leaf with more behind it is read")
		}
	})
}

// The bytes of docs/audit-log.md, so that they do not change unseen.
func TestLeaf_HasTheBytesOfTheSpecification(t *testing.T) {
	t.Parallel()
	l := Leaf{Kind: Version, Version: 1, At: 2, Parts: 1, Free: 3, Held: 4, Sold: 5, Blocked: 6, Rules: &Rules{OnSale, AtOnce, 18}, Entries: []Entry{{Seat: 7, State: 4, Commitment: [32]byte{0xaa}}}}
	want := "01" + "0000000000000001" + "0000000000000002" + "0000" + "0001" + "00000003" + "00000004" + "00000005" + "00000006" + "01" +
		"01" + "8000000000000000" + "00000012" + "0001" + "00000007" + "04" + "aa" + fmt.Sprintf("%062d", 0)
	if got := fmt.Sprintf("%x", l.Append(nil)); got != want {
		t.Errorf("the leaf is\n%s, want\n%s", got, want)
	}
	if got := fmt.Sprintf("%x", (&Leaf{Kind: Statement, At: 2, Text: "presale\n"}).Append(nil)); got != "020000000000000002"+"70726573616c650a" {
		t.Errorf("the statement is %s", got)
	}
}
