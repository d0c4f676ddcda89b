// Package plan reads, checks, repairs, writes and draws seating plans.
//
// # Formats
//
//	Usher's own open format  document.go, generate.go   docs/plan-format.md; the shipped plans are written in it
//	pretix                   pretix.go                  zones, rows and areas
//	seats.io                 seatsio.go                 published charts, with floors, sections, tables, booths and areas
//	tables and drawings      records.go, svg.go         CSV and SVG; the organizer says which column means what
//
// # The way of a file
//
// Read examines the file (read.go), decodes it into a draft (draft.go), repairs names, ids and labels that stand twice
// (repair.go), lays out what has no place (geometry.go), builds the plan and checks it (check.go). A file is read whole
// or refused with an Error that names the line. Open does the same and returns the plan as a document for the editor,
// with its generators and tables (open.go).
//
// # Promises
//
//   - A plan that Read returns passes Check: each seat has one id and one label, and lies inside the drawing.
//   - What Write writes, Read reads back as the same plan.
//   - A repair is reported, and a plan that needs none is not changed.
package plan
