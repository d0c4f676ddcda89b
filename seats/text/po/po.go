// Package po holds the catalogues of package text. It is a package of its own so that a new translation compiles two packages
// anew, and not all that say something.
package po

import "embed"

// Files are the catalogues, one for each language.
//
//go:embed *.po
var Files embed.FS
