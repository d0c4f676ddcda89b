// Package desk draws the pages of organizers and of those who check tickets at the door.
package desk
