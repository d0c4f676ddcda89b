// Package web is what the handlers of every audience share: middleware, sessions, limits, errors, idempotency, and the
// reading and writing of bodies.
//
// A handler parses, calls one function of a domain package, and answers, as a page or as JSON on the same address. It returns
// an error for what went wrong; Server.answer has the words for it.
package web
