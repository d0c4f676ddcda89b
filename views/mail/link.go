package mail

import "github.com/usherbox/usher/views"

// LinkSubject is the subject of a mail with a link in it.
const LinkSubject = "The link to your credit"

const linkAdvice = "It works once, for half an hour. If you did not ask for it, leave it: without this mail there is no way in."

// LinkText is LinkLetter for programs that show plain text.
func LinkText(address, email string, legal []views.Link) string {
	return "You, we hope, asked to see the credit of " + email + ".\n\nOpen my credit:\n" + address + "\n\n" + linkAdvice + "\n" + footText(legal)
}
