// Package webhooks tells other programs what happens to a team's events, orders, tickets and money, by signed webhooks.
//
// A hook is an address that an owner of a team added. A delivery takes one fact to one hook. Triggers of the
// database write it in the transaction of the fact, so that nothing is told that did not happen, and nothing is forgotten. Of a hold
// that expired the batch that announces it does. What no webhook asks for is not written.
// It contains no personal data: it has the code of the order, and the receiver asks for the rest with an API key.
//
// # Sending
//
// Sending is a job: seats/jobs runs it and says when. A node takes due deliveries (SKIP LOCKED) for a minute; no
// transaction is open while it calls. Any status from 200 to 299 means that the receiver took it. Otherwise it is sent again
// after 5 seconds, then later and later, up to 8 hours, for three days. A hook that fails again and again is left alone for
// a while. After five days without one good answer it is switched off, and the desk says so. 410 (Gone) switches it off at
// once. A delivery may come twice, and not in the order of events: its id stays the same and its time is that of the event.
//
// # Signing
//
// As Standard Webhooks 1.0 says (https://www.standardwebhooks.com): the headers webhook-id, webhook-timestamp and
// webhook-signature, which is HMAC-SHA256 over "id.timestamp.body" with the hook's secret. For a day after a secret was
// changed both sign.
//
// # Where to
//
// Organizers choose the addresses, and may not reach what this machine reaches. So the address that a name leads to is
// checked when the connection is made, each time (guard.go): only addresses of the public internet, only https, no
// redirects, no proxy, unless the operator allows internal networks.
package webhooks
