package desk

import (
	"context"
	"net/url"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/text"
)

// BlocksPath is the address of the blocks of an event.
func BlocksPath(slug string) string { return EventPath(slug) + "/blocks" }

// BlocksPage is the seats of an event that are kept off sale.
type BlocksPage struct {
	Frame
	List    []blocks.Block
	Changed seats.ID   // the block whose change was refused
	Form    url.Values // of that change, as it was typed
	Message string     // why it was refused
}

// typed returns the terms of a block as a form has them: as they were typed, or as they are.
func (p BlocksPage) typed(b blocks.Block) func(field string) string {
	if p.Form != nil && p.Changed == b.ID {
		return p.Form.Get
	}
	ends := ""
	if !b.EndsAt.IsZero() {
		ends = p.Event.Local(b.EndsAt).Format(MomentForm)
	}
	return url.Values{"kind": {string(b.Kind)}, "owner": {b.Owner}, "reason": {b.Reason}, "ends_at": {ends}}.Get
}

// seats are the seats of all blocks, and those sold of them.
func (p BlocksPage) seats() (blocked, sold int) {
	for _, b := range p.List {
		blocked, sold = blocked+b.Blocked+b.Held, sold+b.Sold
	}
	return blocked, sold
}

var blockKinds = map[seats.BlockKind]string{
	"": text.Mark("Not said"), seats.BlockHouse: text.Mark("House seats"), seats.BlockPromoter: text.Mark("Promoter or partner"), seats.BlockPress: text.Mark("Press"),
	seats.BlockTechnical: text.Mark("Technical"), seats.BlockGroup: text.Mark("Group booking"), seats.BlockKilled: text.Mark("Not sold at this event"),
}

// blockName is a block in one line.
func blockName(ctx context.Context, b blocks.Block) string {
	name := b.Reason
	if b.Owner != "" {
		name = b.Owner
	}
	if name == "" && b.Kind != "" {
		name = text.T(ctx, blockKinds[b.Kind])
	}
	if name == "" {
		return text.N(ctx, "%d blocked seat", "%d blocked seats", b.Blocked)
	}
	return text.T(ctx, "%s, %s", name, text.N(ctx, "%d seat", "%d seats", b.Blocked))
}
