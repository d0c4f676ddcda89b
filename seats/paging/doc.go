// Package paging reads long lists in pages.
//
// A list has an order in which no two of its lines are equal, such as the time and the id of an order. A page is what follows a place in
// that order, not what follows a number of lines. So whatever is added or goes meanwhile, no line comes twice, and none that is there all
// the time is left out.
//
//	list ──► page: so many lines after a place ──► the place of its last line, if there are more ──► next page
//
// Programs get a place as a cursor: a text that they send back as it is. Its content is ours to change.
package paging
