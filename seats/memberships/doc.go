// Package memberships keeps who is a member of a team's programme, such as its Friends, and for how long.
//
// A team has kinds of membership, each with a price and a length in months. A person, by email address, has a membership of a kind from one
// day to another. It is valid on both days and between them, unless a member of the team ended it before. Days are those of UTC in lists, and those
// of the event's place where a membership opens something; one that begins today by UTC has begun there, too. Days of a membership that was given do not change: who stays a member gets another one.
//
//	given at the desk, or  ──► begins ──► valid ──► over, after its last day
//	with a list of many           │         │
//	                              └────┬────┘
//	                                   └► ended at the desk
//
// Money is not taken here. The price of a kind is noted with each membership when it is given.
//
// Codes are mailed to the members of a kind (handlers/desk/codes.go). Package seats asks under its locks, with member_now of the schema, whether the
// person of a code is a member on that day.
//
// # Promises
//
//	MS1 A code of a member opens nothing once the membership is over, was ended, or its person was erased. If the person has another
//	    membership of the same kind that is valid, the code opens what it did.
//	MS2 No person has two memberships of one kind on the same day. A list that is imported again gives nothing twice, and nothing
//	    back that was ended.
//	MS3 A list is imported as a whole, or not at all: then each wrong line is named with its number.
//	MS4 Kinds and members of another team are neither read nor changed.
package memberships
