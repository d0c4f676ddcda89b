package views

import (
	"slices"
	"strconv"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// LegalPath is the address of a team's legal text.
func LegalPath(team int64, k pages.Kind) string {
	return "/legal/" + strconv.FormatInt(team, 10) + "/" + string(k)
}

// TermsPath is the address of a version of a team's terms.
func TermsPath(team int64, version int) string {
	return LegalPath(team, pages.Terms) + "?version=" + strconv.Itoa(version)
}

var legalWords = map[pages.Kind]string{
	pages.Imprint: text.Mark("Imprint"), pages.Terms: text.Mark("Terms"), pages.Privacy: text.Mark("Privacy"), pages.Accessibility: text.Mark("Accessibility"),
}

// LegalWords is the title of a legal text.
func LegalWords(k pages.Kind) string { return legalWords[k] }

// LegalLinks are links to legal texts at a site, one of each kind. A kind of which several teams have one leads to a list.
func LegalLinks(list []pages.Ref, site string) (links []Link) {
	for _, k := range pages.Kinds() {
		of := slices.DeleteFunc(slices.Clone(list), func(r pages.Ref) bool { return r.Kind != k })
		switch len(of) {
		case 0:
		case 1:
			links = append(links, Link{LegalWords(k), site + LegalPath(of[0].Team, k)})
		default:
			links = append(links, Link{LegalWords(k), site + "/legal/" + string(k)})
		}
	}
	return links
}
