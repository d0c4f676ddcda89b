package views

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// PicturePath is the address of a file of a picture.
func PicturePath(hash string, width int) string {
	return fmt.Sprintf("/pictures/%s-%d.jpg", hash, width)
}

// pictureSet lists the files of a picture with their widths, as the srcset of an img.
func pictureSet(p pages.Picture) string {
	list := make([]string, len(p.Widths))
	for i, width := range p.Widths {
		list[i] = fmt.Sprintf("%s %dw", PicturePath(p.Hash, width), width)
	}
	return strings.Join(list, ", ")
}

// PictureAhead is the Link header by which a browser asks for a picture before it has read the page. wide is that of Picture.
func PictureAhead(p pages.Picture, wide string) string {
	return fmt.Sprintf(`<%s>; rel=preload; as=image; fetchpriority=high; imagesrcset="%s"; imagesizes="%s"`, PicturePath(p.Hash, p.Widths[0]), pictureSet(p), wide)
}

// categoryWords are the categories of seats/pages in words, which text.T translates.
var categoryWords = map[string]string{
	"play": text.Mark("Play"), "musical": text.Mark("Musical"), "opera": text.Mark("Opera"), "concert": text.Mark("Concert"), "dance": text.Mark("Dance"), "comedy": text.Mark("Comedy"), "reading": text.Mark("Reading"), "talk": text.Mark("Talk"),
	"film": text.Mark("Film"), "family": text.Mark("For families"), "festival": text.Mark("Festival"), "sport": text.Mark("Sport"), "conference": text.Mark("Conference"), "party": text.Mark("Party"),
}

// CategoryWords is the category of an event in words: its organizer's, if it is none of ours.
func CategoryWords(category string) string {
	if words, ours := categoryWords[category]; ours {
		return words
	}
	return category
}

// LanguageName is a language in words, in the language of a page: "German".
func LanguageName(ctx context.Context, tag string) string {
	t, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	if name := display.Tags(language.Make(text.Tag(ctx))).Name(t); name != "" {
		return name
	}
	return tag
}
