package organizers

// Role is what a member is in a team.
type Role string

// The roles, from the one that may do most.
const (
	Owner   Role = "owner"
	Manager Role = "manager"
	Viewer  Role = "viewer"
	Door    Role = "door"
)

// Roles are all of them, as people choose from them.
func Roles() []Role { return []Role{Owner, Manager, Viewer, Door} }

// Need is what has to be allowed for something at the desk.
type Need int

// The needs.
const (
	Enter  Need = iota // be a member: the list of events
	Self               // be a person: one's own account
	Look               // see an event, its figures and its orders
	Sell               // box office and check-in
	Manage             // events, prices, orders, the sale
	Own                // members and the team itself
)

var may = map[Role][]Need{
	Owner:   {Enter, Self, Look, Sell, Manage, Own},
	Manager: {Enter, Self, Look, Sell, Manage},
	Viewer:  {Enter, Self, Look},
	Door:    {Enter, Self, Sell},
}

// May reports whether a role may do what needs need.
func (r Role) May(need Need) bool {
	for _, allowed := range may[r] {
		if allowed == need {
			return true
		}
	}
	return false
}

// Known reports whether this is a role at all.
func (r Role) Known() bool { return may[r] != nil }
