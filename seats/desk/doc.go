// Package desk is for organizers: who they are, in which teams and roles, and what each of them did.
//
// # Who may do what
//
// An organizer is a person with an account; a member is an organizer in a team, with a role. An event belongs to one
// team. What is another team's does not exist for a member.
//
//	          Enter  Sell  Look  Manage  Own
//	owner       ✓     ✓     ✓      ✓      ✓    members, the team, the log of others
//	manager     ✓     ✓     ✓      ✓           events, orders, prices, the sale
//	viewer      ✓           ✓                  looks on
//	door        ✓     ✓                        box office and check-in
//
// Programs work by a key that an owner made, in their name, as far as its scopes and their role go; no key opens the team
// or an account.
//
// # Two walls
//
// The first is Desk.Member, which every request of the desk passes: it reads the session's organizer and their role anew
// each time, so that who was removed is out at once, on all nodes. The second is the database: Desk.As works as a role
// that sees only rows of the member's team (row-level security, migrations/0001_schema.sql), so that a query that forgets
// whose events it is about finds nothing of others.
//
// # Deeds
//
// What a member changes is written down in the transaction that changes it (Note). Nothing of that is ever changed or
// taken away; the database refuses it.
//
// # Figures
//
// A Tally is a sale as its change log tells it: what was sold when, and what became of each hold. It follows the log from
// where it was read last, which is one row, and keeps a row for each minute and hour in which something changed. It is a
// function of the log alone, so any node may write it and whoever is further does. Nothing of it is written by claims or
// orders, and nothing is read while no desk is open. Refusals change nothing and stand in no log: nodes count them, and add
// some seconds' together.
package desk
