package publiclog

import (
	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
	hashSize   = tlog.HashSize
	fullTile   = tileWidth * hashSize
)

// tile is one of the tree, as far as it goes.
type tile struct {
	level  int
	n      int64
	hashes []byte

	// Of level 0: where its first leaf is in the change log.
	version int64
	part    int
}

// tree is the right edge of a Merkle tree, in tiles, and what was added to it.
type tree struct {
	size  int64
	edge  []*tile // by level, the last tile; nil: the last one is full, or there is none
	grown map[*tile]bool
	full  []*tile // that were filled
}

// edgeOf lists the tiles at the right edge of a tree that are not full: the level and the number of each.
func edgeOf(size int64) (levels []int16, numbers []int64) {
	for level := 0; size > 0; level++ {
		if size%tileWidth > 0 {
			levels, numbers = append(levels, int16(level)), append(numbers, size/tileWidth)
		}
		size /= tileWidth
	}
	return levels, numbers
}

func newTree(size int64, edge []*tile) *tree {
	t := &tree{size: size, grown: map[*tile]bool{}}
	for _, e := range edge {
		t.reach(e.level)
		t.edge[e.level] = e
	}
	return t
}

func (t *tree) reach(level int) {
	for len(t.edge) <= level {
		t.edge = append(t.edge, nil)
	}
}

// add appends a leaf, which is a part of a version in the change log.
func (t *tree) add(leaf []byte, version int64, part int) {
	h := tlog.RecordHash(leaf)
	n := t.size / tileWidth
	for level := 0; ; level, n = level+1, n/tileWidth {
		t.reach(level)
		last := t.edge[level]
		if last == nil {
			last = &tile{level: level, n: n}
			if level == 0 {
				last.version, last.part = version, part
			}
			t.edge[level] = last
		}
		last.hashes = append(last.hashes, h[:]...)
		t.grown[last] = true
		if len(last.hashes) < fullTile {
			break
		}
		h = fold(subtrees(nil, last.hashes))
		t.full = append(t.full, last)
		t.edge[level] = nil
	}
	t.size++
}

// root is the hash of the tree, RFC 6962.
func (t *tree) root() tlog.Hash {
	var list []tlog.Hash
	for level := len(t.edge) - 1; level >= 0; level-- {
		if e := t.edge[level]; e != nil {
			list = subtrees(list, e.hashes)
		}
	}
	return fold(list)
}

// subtrees appends the roots of the perfect trees that the hashes of a tile make, the largest first.
func subtrees(list []tlog.Hash, hashes []byte) []tlog.Hash {
	for width := tileWidth; width > 0; width /= 2 {
		if len(hashes) >= width*hashSize {
			list = append(list, perfect(hashes[:width*hashSize]))
			hashes = hashes[width*hashSize:]
		}
	}
	return list
}

// perfect is the root over a power of two of hashes.
func perfect(hashes []byte) tlog.Hash {
	if len(hashes) == hashSize {
		return tlog.Hash(hashes)
	}
	half := len(hashes) / 2
	return tlog.NodeHash(perfect(hashes[:half]), perfect(hashes[half:]))
}

func fold(list []tlog.Hash) tlog.Hash {
	h := list[len(list)-1]
	for i := len(list) - 2; i >= 0; i-- {
		h = tlog.NodeHash(list[i], h)
	}
	return h
}

// changed lists the tiles to write.
func (t *tree) changed() []*tile {
	list := t.full
	for _, e := range t.edge {
		if e != nil && t.grown[e] {
			list = append(list, e)
		}
	}
	return list
}
