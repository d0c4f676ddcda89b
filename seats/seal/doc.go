// Package seal encrypts the few secrets that the database has to keep: seeds of ticket keys, keys of waiting rooms,
// secrets of webhooks, second factors of organizers. The key is the operator's and is not in the database, so a dump, a
// replica or a query that leaks shows no secret.
//
// A sealed value is
//
//	"usher-seal/1" | key id (8 bytes) | nonce (12) | AES-256-GCM ciphertext and tag
//
// and is 48 bytes longer than the secret. The context, such as "ticket_key/7", is authenticated with it: a value copied to
// another row or table does not open there. A value without the mark in front is not sealed and is returned as it is, so a
// database from before, or one without a key, works; Reseal seals such rows as soon as there is a key.
//
// A Box holds one or more keys. The first one seals; each opens what it sealed. To rotate, put a new key in front of the old
// one, call Reseal for every table, and take the old key away when no backup needs it any more. All nodes of a database use
// the same keys.
//
// A nil *Box has no key.
package seal
