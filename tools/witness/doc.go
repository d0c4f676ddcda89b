// Package witness has a witness of the transparency-dev project cosign the public log of a sale (docs/audit-log.md). It is a module of its own: the
// program needs nothing of what a witness needs.
package witness
