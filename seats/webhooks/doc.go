// Package webhooks tells programs of others what happens to a team's orders and tickets: signed webhooks.
//
// A hook is an address that an owner of a team made. A notice is one thing that happened, for one hook. It is written by
// the database itself, in the transaction of what it tells of (triggers in migrations), so that nothing is told that did
// not happen and nothing that happened is forgotten. It names no person: it carries the code of the order, with which a
// program asks for the rest by a key of its own.
//
// # Sending
//
// Any number of nodes send, at once. A node takes notices that are due (SKIP LOCKED) for a minute; no transaction is open
// while it calls. Any status from 200 to 299 means that the notice was taken. Otherwise it is tried again after 5 seconds,
// then later and later, up to 8 hours, for three days. A hook that fails again and again is left alone for a while, so
// that it holds nobody else up; after five days without one good answer it is switched off, and the desk says so. 410
// (Gone) switches it off at once. A notice may come twice, and not in the order of what happened: its id stays the same
// and its time is that of what happened.
//
// # Signing
//
// As Standard Webhooks 1.0 says (https://www.standardwebhooks.com): the headers webhook-id, webhook-timestamp and
// webhook-signature, which is HMAC-SHA256 over "id.timestamp.body" with the hook's secret. For a day after a secret was
// changed both sign.
//
// # Where to
//
// The address is the choice of somebody who may not reach what this machine reaches. So what a name leads to is looked at
// when the connection is made, each time (guard.go): only addresses of the public internet, only https, no redirects, no
// proxy, unless the operator allows their own networks.
package webhooks
