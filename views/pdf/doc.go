// Package pdf writes documents of text, lines and pictures as PDF, in any script: letters are joined, ordered and placed as their
// script needs it (HarfBuzz, by go-text/typesetting).
//
// The way through it: New makes a Document, Page begins a page of it, Shape makes a Text of words, Lines breaks it, and Write puts a Line
// on the page. Output writes the file: with the letters that it uses of each font, and with what they stand for, so that readers
// find and copy text.
//
// Lengths on a page are in millimetres from its upper left corner, sizes of letters in points. Lengths of a Text are in em, which are as
// long as its letters are high.
package pdf
