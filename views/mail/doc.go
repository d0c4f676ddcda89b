// Package mail writes mails, each as HTML and as plain text.
package mail
