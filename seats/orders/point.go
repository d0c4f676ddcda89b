package orders

import "github.com/usherbox/usher/seats"

// Point is a place between a hold and its ticket where the program may die. A test kills it at each of them, starts it
// again and counts the money; nothing else ever stops there.
type Point string

// The points, in the order in which a payment meets them.
const (
	PointPay         Point = "pay"         // nothing is written
	PointIntended    Point = "intended"    // the intention is written, the provider not asked
	PointAuthorizing Point = "authorizing" // the provider answered, and nobody noted it
	PointHeard       Point = "heard"       // a webhook is in the inbox, and its sender was not told
	PointTold        Point = "told"        // its sender was told, and nobody acted on it
	PointAuthorized  Point = "authorized"  // the money is promised, the seats are not sold
	PointSold        Point = "sold"        // the order is there, the money not
	PointCapturing   Point = "capturing"   // the provider took the money, and nobody noted it
	PointCaptured    Point = "captured"    // all is noted
	PointLost        Point = "lost"        // the seats are somebody else's, the money is still promised or there
	PointVoiding     Point = "voiding"     // the provider gave the promise back, and nobody noted it
	PointRefunding   Point = "refunding"   // the provider gave the money back, and nobody noted it
	PointClosed      Point = "closed"      // all is noted
)

// Points is the registry of them.
func Points() []Point {
	return []Point{
		PointPay, PointIntended, PointAuthorizing, PointHeard, PointTold, PointAuthorized, PointSold, PointCapturing, PointCaptured,
		PointLost, PointVoiding, PointRefunding, PointClosed,
	}
}

// atPoint is set in programs built with the tag mutants, and nowhere else.
var atPoint func(Point)

// hasBug is set in those programs, too: a test plants a bug and must see it caught.
var hasBug func(string) bool

func planted(bug string) bool { return hasBug != nil && hasBug(bug) || seats.Planted(bug) }

func reached(p Point) {
	if atPoint != nil {
		atPoint(p)
	}
}
