// Package organizers knows who works at the desk: accounts, teams and roles, sessions, and what each of them did.
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
// each time, so that a removed member is out at once, on all nodes. The second is the database: Desk.As works as a role
// that sees only rows of the member's team (row-level security, migrations/0001_schema.sql), so that a query without
// its events finds nothing of others.
//
// # Audit entries
//
// What a member changes is written down in the transaction that changes it (Note). Nothing of that is ever changed or
// taken away; the database refuses it.
//
// # The way through
//
// setup.go makes the first owner, invitation.go the others. signin.go, passkey.go, openid.go and totp.go let them in,
// session.go keeps them in, and password.go hashes. member.go reads who asks, role.go what they may do; apikey.go does so for programs.
// team.go and account.go change teams and accounts; action.go and key.go do each change once, audit.go notes it. plan.go and
// plan_save.go keep seating plans, share.go links to a dashboard, security.go security events.
package organizers
