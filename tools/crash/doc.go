// Package crash kills the real program at every registered point between a hold and its ticket, starts it again, and
// counts the money. It has tests only.
package crash
