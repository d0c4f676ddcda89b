// Sections: made, named, ordered, and given the seats that are selected.

import {KEY, alive, assign, index, labelOf, mapParts, mapSections, mapped, partsOf, set} from 'usher/editor_model'
import {freeName} from 'usher/editor_number'
import {T} from 'usher/text'

export function makeSection(plan, name, mint) {
  const made = {name: freeName(name || T('Section'), plan.sections.map(s => s.name)), category: plan.categories[0]?.key, rows: [], [KEY]: mint.key()}
  return {plan: set(plan, 'sections', [...plan.sections, made]), selection: new Set([made[KEY]])}
}

// editSection changes a section's name, category or outline. Its seats keep what they cost.
export function editSection(plan, key, fields) {
  return mapSections(plan, section => {
    if (section[KEY] !== key) return section
    if (fields.category === undefined || fields.category === section.category) return assign(section, fields)
    const keeps = seat => set(seat, 'category', (seat.category ?? section.category) === fields.category ? undefined : seat.category ?? section.category)
    const kept = mapParts(section, part => set(part, 'seats', mapped(part.seats, keeps)))
    const area = section.area && set(section.area, 'places', mapped(section.area.places, keeps))
    return assign(kept, {...fields, ...area && {area}})
  })
}

export const editPart = (plan, key, label) => mapSections(plan, section => {
  const named = part => part[KEY] === key ? set(part, part.table !== undefined ? 'table' : 'row', label) : part
  const rows = mapped(section.rows, named), tables = mapped(section.tables, named)
  return rows === section.rows && tables === section.tables ? section : assign(section, {rows, tables, generate: undefined})
})

// sell says how the seats of a row or table are sold: whole, shared, or each by itself.
const sell = (plan, key, sold) => mapSections(plan, section => {
  const told = part => part[KEY] === key ? assign(part, {whole: undefined, shared: undefined, ...sold}) : part
  const rows = mapped(section.rows, told), tables = mapped(section.tables, told)
  return rows === section.rows && tables === section.tables ? section : assign(section, {rows, tables, generate: undefined})
})

// sellWhole says whether the seats of a row or table are sold together only.
export const sellWhole = (plan, key, whole) => sell(plan, key, {whole: whole || undefined})

// share says how many seats each party has at a row or table; nothing if it is not shared.
export const share = (plan, key, shared) => sell(plan, key, {shared})

// editSeat changes the number of one seat, or where it is.
export const editSeat = (plan, key, fields) => mapSections(plan, section => mapParts(section, part => set(part, 'seats', mapped(part.seats, seat => seat[KEY] === key ? assign(seat, fields) : seat))))

// assignTo puts the selected seats into a section, in rows of the same names. A row that is there gets them at its end. They
// keep what they cost.
export function assignTo(plan, selection, key, mint) {
  const to = index(plan).get(key)?.section
  if (!to || to.area) return {plan, selection}
  const coming = []
  let now = mapSections(plan, section => section === to ? section : mapParts(section, part => {
    const chosen = part.seats.filter(s => selection.has(s[KEY]) || selection.has(part[KEY]))
    if (!chosen.length) return part
    const priced = chosen.map(s => set(s, 'category', (s.category ?? section.category) === to.category ? undefined : s.category ?? section.category))
    coming.push({part: {...part, seats: priced}, whole: chosen.length === part.seats.length})
    return chosen.length === part.seats.length ? undefined : set(part, 'seats', part.seats.filter(s => !chosen.includes(s)))
  }))
  if (!coming.length) return {plan, selection}
  now = mapSections(now, section => section[KEY] === key ? coming.reduce((to, row) => received(to, row, mint), set(section, 'generate', undefined)) : section)
  return {plan: now, selection: alive(now, selection)}
}

// received is a section with a row more, or with more seats in one.
function received(section, {part, whole}, mint) {
  const field = part.table !== undefined ? 'table' : 'row', list = field === 'table' ? 'tables' : 'rows'
  const there = section[list]?.find(p => labelOf(p) === labelOf(part))
  if (there) return set(section, list, section[list].map(p => p === there ? {...p, seats: [...p.seats, ...part.seats]} : p))
  return set(section, list, [...section[list] ?? [], whole ? part : {...part, [KEY]: mint.key()}])
}

// shift moves a section, or a row within its section, earlier or later: seats are listed and numbered in that order.
export function shift(plan, key, by) {
  const at = index(plan).get(key)
  if (!at?.section) return plan
  if (!at.part) return set(plan, 'sections', shifted(plan.sections, at.section, by))
  const list = at.part.table !== undefined ? 'tables' : 'rows'
  return mapSections(plan, s => s === at.section ? assign(s, {[list]: shifted(s[list], at.part, by), generate: undefined}) : s)
}

function shifted(list, item, by) {
  const from = list.indexOf(item), to = Math.max(0, Math.min(list.length - 1, from + by))
  if (from === to) return list
  const rest = list.filter(x => x !== item)
  return [...rest.slice(0, to), item, ...rest.slice(to)]
}

// problems says what keeps a plan from being saved, a sentence each, with the keys of what it is about.
export function problems(plan) {
  const list = []
  const add = (text, ...keys) => list.push({text, keys})
  const named = (name, key, without) => {
    if (!name?.trim()) add(without, key)
    else if (name.includes('/')) add(T('The name “%s” has a slash. A slash separates the names in a label, so none of them can have one.', name), key)
  }
  named(plan.name, undefined, T('The plan has no name.'))
  for (const floor of plan.floors ?? []) named(floor.name, undefined, T('A floor has no name.'))
  const seen = new Map()
  for (const section of plan.sections) {
    named(section.name, section[KEY], T('A section has no name.'))
    if (seen.has(section.name)) add(T('Two sections are called %s.', section.name), section[KEY], seen.get(section.name))
    seen.set(section.name, section[KEY])
    problemsOf(section, named, add)
  }
  return list
}

function problemsOf(section, named, add) {
  const labels = new Map()
  for (const part of partsOf(section)) {
    named(labelOf(part), part[KEY], T('A row of %s has no name.', section.name))
    if (labels.has(labelOf(part))) add(T('Two rows of %s are called %s.', section.name, labelOf(part)), part[KEY], labels.get(labelOf(part)))
    labels.set(labelOf(part), part[KEY])
    if (part.whole && new Set(part.seats.map(seat => seat.category ?? section.category)).size > 1) add(T('%s of %s is sold as a whole, so all its seats have one price category.', labelOf(part), section.name), part[KEY])
    if (part.shared && new Set(part.seats.map(seat => seat.category ?? section.category)).size > 1) add(T('%s of %s is shared, so all its seats have one price category.', labelOf(part), section.name), part[KEY])
    const {least = 1, most = part.seats.length} = part.shared ?? {}
    if (part.shared && !(least >= 1 && least <= most && most <= part.seats.length)) add(T('%s of %s has %d seats: a party has 1 or more of them, and the least are no more than the most.', labelOf(part), section.name, part.seats.length), part[KEY])
    const numbers = new Map()
    for (const seat of part.seats) {
      named(seat.number, seat[KEY], T('A seat of %s, row %s, has no number.', section.name, labelOf(part)))
      if (numbers.has(seat.number)) add(T('Two seats are called %s, row %s, seat %s.', section.name, labelOf(part), seat.number), seat[KEY], numbers.get(seat.number))
      numbers.set(seat.number, seat[KEY])
    }
  }
}
