// Package demo is a card provider that moves no money, for demo events: it has a page of its own where the payer says
// how it shall behave, books of its own, and tells what happened late or twice if it is asked to. To package orders it is
// a provider like any other.
package demo
