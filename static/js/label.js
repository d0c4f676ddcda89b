// What a seat is called. It knows the floors of the plan on this page, so a page has it once.

import {T} from 'usher/text'

let above = new Map() // the floors of sections, by their names

// nameFloors learns the floors of a drawing, if it has any.
export function nameFloors({floors, sections}) { above = new Map(floors && sections.map(s => [s.name, floors[s.floor ?? 0]])) }

// words says a label as people do, after its floor if it has one.
export function words(label) {
  const [name, row, seat] = label.split('/'), floor = above.get(name), section = floor && floor !== name ? T('%s, %s', floor, name) : name
  if (!seat) return T('%s, place %s', section, row)
  return row.length > 4 || row.includes(' ') ? T('%s, %s, seat %s', section, row, seat) : T('%s, row %s, seat %s', section, row, seat)
}
