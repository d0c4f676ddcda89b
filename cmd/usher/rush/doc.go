// Package rush is a crowd that comes to buy, over real HTTP and WebSockets, and a judge of what it was told.
//
// People arrive when they arrive, whether or not the box office keeps up, so that waiting for a connection counts as
// waiting. Each is an attendee of their own: they look at the map, claim, repeat a claim whose answer they did not wait
// for, give seats back, or let their time run out.
//
// The judge reads nothing but answers. Every granted claim goes into the books: which seats, whose, from when until
// when, by the clock of the box office. When the crowd is gone, the books tell whether a seat had two holders at once,
// whether anybody was refused what was free, and whether the box office still shows what it promised.
package rush
