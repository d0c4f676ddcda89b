package plan

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/text"
)

// In is the line, the way and the reason, of all that is wrong, in the language of their reader.
func (e *Error) In(ctx context.Context) string {
	words := []string{e.placeIn(ctx)}
	for _, o := range e.Others {
		words = append(words, o.placeIn(ctx))
	}
	if e.More > 0 {
		words = append(words, text.N(ctx, "and %d more", "and %d more", e.More))
	}
	return strings.Join(words, "; ")
}

func (e *Error) placeIn(ctx context.Context) string {
	said := reasons.In(ctx, e.Reason)
	if e.Where != "" {
		said = text.T(ctx, "%s: %s", e.Where, said)
	}
	if e.Line > 0 {
		// Translators: where in a file a mistake is, and what is wrong there.
		said = text.T(ctx, "line %s: %s", strconv.Itoa(e.Line), said)
	}
	return said
}

// Refused returns an error of this package as the reason why a file is refused.
func Refused(err error) *Error {
	var told *Error
	if errors.As(err, &told) {
		return told
	}
	return &Error{Reason: strings.TrimPrefix(err.Error(), "plan: read: ")}
}

// reasons are those that Read, Open and Check give, a part of a sentence each.
var reasons = text.NewStored(
	text.Mark("the plan breaks a rule: %s"), text.Mark("shape %s: %s"),

	text.Mark("the file is larger than %s MiB"), text.Mark("this version of Usher reads \"%s\", the file is \"%s\"; a newer Usher may read it"),
	text.Mark("more than %s parts: too many for a plan"), text.Mark("more than %s objects and lists stand in each other: too many for a plan"),
	text.Mark("a name, with the names of all around it, is longer than %s bytes"), text.Mark("more than %s seats: too many for one plan"),
	text.Mark("found %s where %s is expected"), text.Mark("%s does not fit here; expected %s that is finite and not huge"),
	text.Mark("the format has no key \"%s\" in this place"), text.Mark("the key \"%s\" belongs to another category, too, or is empty"), text.Mark("category \"%s\" is not among the categories of the plan"),
	text.Mark("category \"%s\" is not among the categories of the chart"), text.Mark("the seat is in category \"%s\", and the plan has no such category"),
	text.Mark("row \"%s\" of section %s cannot be sold whole: that is a row of at least 2 seats, all of one category"), text.Mark("a row or table that is sold whole has one category for all its seats; \"%s\" has several"),
	text.Mark("row \"%s\" of section %s cannot be shared: that is a row of at least 2 seats, all of one category, which is not sold whole"), text.Mark("a row or table that is shared has one category for all its seats; \"%s\" has several"),
	text.Mark("a row or table is sold whole or shared, not both"), text.Mark("a party has %s to %s seats of %s: the first number is 1 or more, the second at least as many, and both fit the row"),
	text.Mark("row \"%s\" of section %s: a party has %s to %s seats of %s: the first number is 1 or more, the second at least as many, and both fit the row"),
	text.Mark("\"%s\" is no flag; there are %s"), text.Mark("the capacity is %s, and %s places are given"),
	text.Mark("a table has at most %s columns, %s lines and %s cells"), text.Mark("this is no table: %s"),
	text.Mark("\"%s\" and \"%s\" are no place in a drawing; choose the columns with the places of the seats"),
	text.Mark("\"%s\" is no price such as 25.00"), text.Mark("an area has \"%s\" places; that is a whole number from 1 to %s"),
	text.Mark("this is no drawing: %s"), text.Mark("this is no SVG drawing; it begins with <%s>"), text.Mark("a drawing has at most %s things"),
	text.Mark("the forms of a drawing have at most %s points, counted again where a form is used again"),

	text.Mark("the drawing is %s by %s units; each side is more than 0 and at most %s"), text.Mark("the plan has %s seats; it has at most %s"), text.Mark("the plan has %s categories; it needs 1 to %s"),
	text.Mark("two categories have the key \"%s\""), text.Mark("category \"%s\" has the color \"%s\"; a color is #rrggbb or empty"), text.Mark("category \"%s\" costs %s; a price is 0 to %s minor units"),
	text.Mark("the plan has %s sections, more than %s"), text.Mark("two sections are called \"%s\""), text.Mark("two categories are called \"%s\""), text.Mark("section \"%s\" has no seats"),
	text.Mark("section \"%s\" begins at seat %s; the one before it ends at %s"), text.Mark("section \"%s\" ends after the last seat"), text.Mark("section \"%s\" has no outline"),
	text.Mark("the outline of section \"%s\" has a point that is no place in a drawing"), text.Mark("the sections hold %s seats, the plan has %s"),
	text.Mark("%s has no name"), text.Mark("%s is called \"%s\", with space around the name"), text.Mark("%s is called \"%s\"; a slash parts the names in a label and stands in none"),
	text.Mark("%s has a text that is not UTF-8"), text.Mark("%s has a text of %s characters; at most %s are kept"), text.Mark("%s has a control character in \"%s\""),
	text.Mark("seat %s says section %s and stands in \"%s\""), text.Mark("two seats have the id \"%s\"; one is %s"), text.Mark("%s has no id"), text.Mark("%s is in an area and has a row, \"%s\""),
	text.Mark("%s is in category %s; the plan has %s"), text.Mark("%s has the flags %s, of which some mean nothing"), text.Mark("%s is at %s, %s, outside of the drawing of %s by %s"),
	text.Mark("the seats of row \"%s\" in \"%s\" do not follow each other"), text.Mark("two seats are called %s"),
	text.Mark("the plan has %s floors; it has none, or 2 to %s"), text.Mark("two floors are called \"%s\""), text.Mark("floor \"%s\" is at no place in a drawing"), text.Mark("floor \"%s\" is not among the floors of the plan"),
	text.Mark("section \"%s\" is on floor %s; the plan has %s"), text.Mark("shape %s is on floor %s; the plan has %s"),
	text.Mark("a column is no \"%s\"; it may be section, row, number, category, price, x, y, id, flags, capacity or only"), text.Mark("the file has no column \"%s\"; it has %s"),
	text.Mark("the plan has %s pictures to trace; it has at most %s"), text.Mark("a picture is %s units wide; its width is more than 0 and at most %s"), text.Mark("the opacity of a picture is %s; it is 0 to 1"),
	text.Mark("\"%s\" is no kind of shape; there are %s"), text.Mark("\"%s\" is no role of a shape; there are %s"), text.Mark("\"%s\" is no role of an icon; there are %s"), text.Mark("a %s needs more points"),
).Naming(
	text.Mark("the plan"), text.Mark("floor %s"), text.Mark("a category's key"), text.Mark("category %s"), text.Mark("the number of seat %s"), text.Mark("the row of seat %s"), text.Mark("section %s"), text.Mark("seat %s"),
	text.Mark("it"), text.Mark("a text"), text.Mark("a number"), text.Mark("a whole number"), text.Mark("true or false"), text.Mark("a list"), text.Mark("an object"), text.Mark("something else"),
	text.Mark("a text or a number"), text.Mark("a point as [x, y]"), text.Mark("polygon"), text.Mark("line"),
)

// Reasons without a part that differs.
var _ = []string{
	text.Mark("this is JSON, but no plan Usher knows: its own has \"format\": \"usher-plan/1\", a pretix plan has a list \"zones\", a seats.io chart has \"subChart\" or \"subChartFloors\""),
	text.Mark("this is not JSON. Tables (CSV) and drawings (SVG) are imported on the page Plans"), text.Mark("this is not JSON from here on"),
	text.Mark("the file is empty"), text.Mark("this is not UTF-8 text"), text.Mark("null stands in a list, where an element is expected"), text.Mark("something follows the end of the plan"),
	text.Mark("the file has no seats"), text.Mark("there is no plan"), text.Mark("the focus is not a place in a drawing"), text.Mark("it has a number that is no place or size in a drawing"),
	text.Mark("an ellipse needs two radii"), text.Mark("a text needs words and a size"), text.Mark("an icon needs a size"), text.Mark("a coordinate or size is so large that it is no place in a drawing"),
	text.Mark("an outline has at least 3 points"), text.Mark("a section is an area or has rows, not both"), text.Mark("this has no category, and neither has its section"),
	text.Mark("an area has a capacity of at least 1"), text.Mark("an area needs an outline, or its places"),
	text.Mark("a generator has an origin for straight rows, or a center for arcs"), text.Mark("seats and rows are at least 1 unit apart"),
	text.Mark("the radius of the first arc is at least the space between two seats"), text.Mark("first, step and limit are not negative, nor larger than a plan"),
	text.Mark("a generator has 1 to 1000 rows and 1 to 100 blocks"), text.Mark("a generator has at most 20 marks, each with at most 1000 rows and 200 numbers"),
	text.Mark("a table without seats needs a center, a radius or a size, and a count of 1 to 1000 seats"),
	text.Mark("the seat has no position"), text.Mark("the seat has no category, and neither has its row or its section; give it one in the chart"),
	text.Mark("the booth has no category; give it one in the chart"), text.Mark("the booth has no position"), text.Mark("the area has no category; give it one in the chart"),
	text.Mark("the area needs a capacity of at least 1"), text.Mark("the area has no form Usher knows: a polygon, a rectangle or a circle"),
	text.Mark("a table has a line with the names of its columns, two at least, and a line for each seat"),
	text.Mark("nothing in the file is marked as a seat; choose what the seats are"),
	text.Mark("a picture is named by the 32 digits that its upload was answered with"),
	text.Mark("the drawing has no circles, rectangles or other forms that could be seats"),
}
