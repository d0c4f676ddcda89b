// Package sites knows where else the events of a team are shown: on its own sites in a frame, and under its own domain.
//
//	sites.go   the sites that may show a team's events in a frame, and what this node knows of all teams
//	domain.go  a domain: asked for, proven, taken away
//	key.go     keys by which scripts of those sites sell tickets
//
// # A site
//
// A site is an origin, such as https://www.playhouse.example. Pages of the team's events name its sites in frame-ancestors, and
// no others. Sites are https; those of this machine are for development.
//
// # A domain
//
// A team asks for a domain and gets a proof, a random word. It puts the word into a TXT record of the domain, which only the
// owner of the domain can do. From then on the domain is proven: requests to it show this team's events alone, and links in
// mails about them begin with it. A domain that is asked for and not proven changes nothing, and bars no other team.
//
// # A site key
//
// A team makes a key and puts it into a script of a site that it lists. The key is no secret: a visitor can read it. It says which
// team's tickets the script sells, and its owner ends it. It admits scripts of listed sites alone.
//
// # Promises
//
//	S1  No page of an event may be framed by a site that its team does not list.
//	S2  A proven domain belongs to one team, and is not the box office's own; the database refuses two.
//	S3  No host of a request reaches a link unless it is a proven domain.
//	S4  A site key sells tickets of its team alone, from sites that the team lists, until it ends.
package sites
