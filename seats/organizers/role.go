package organizers

// Role is what a member is in a team.
type Role string

// The roles, from the one that may do most.
const (
	Owner      Role = "owner"
	Manager    Role = "manager"
	Marketing  Role = "marketing"
	Accounting Role = "accounting"
	Till       Role = "till"
	Door       Role = "door"
	Viewer     Role = "viewer"
)

// Roles are all of them, as people choose from them.
func Roles() []Role { return []Role{Owner, Manager, Marketing, Accounting, Till, Door, Viewer} }

// Need is what has to be allowed for something at the desk.
type Need int

// The needs.
const (
	Enter    Need = iota // be a member: the list of events
	Self                 // be a person: one's own account
	Look                 // see an event and its figures
	Find                 // find orders, see them, and print their tickets
	Sell                 // sell at the box office
	Exchange             // exchange tickets for those of another performance
	Admit                // check people in
	Promote              // pages, pictures, mails, codes and what they bring
	Account              // books, invoices, bank transfers
	Manage               // events, prices, orders, the sale
	Own                  // members and the team itself
)

var may = map[Role][]Need{
	Owner:      {Enter, Self, Look, Find, Sell, Exchange, Admit, Promote, Account, Manage, Own},
	Manager:    {Enter, Self, Look, Find, Sell, Exchange, Admit, Promote, Account, Manage},
	Marketing:  {Enter, Self, Look, Find, Promote},
	Accounting: {Enter, Self, Look, Find, Account},
	Till:       {Enter, Self, Find, Sell, Exchange, Admit},
	Door:       {Enter, Self, Admit},
	Viewer:     {Enter, Self, Look, Find},
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
