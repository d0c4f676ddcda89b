// The plan as the editor has it: the objects of the file themselves, never changed in place, each with a key that no file
// sees. An edit makes a new plan that shares with the old one all it left alone.

import {T} from 'usher/text'

export const KEY = Symbol('key') // JSON does not write it

// Mint gives keys to what is loaded or made, and ids to new seats. It never gives one twice, not even after an undo: an id
// that was once saved means that seat for ever.
export class Mint {
  #prefix; #next = 1
  constructor(prefix) { this.#prefix = prefix }
  key() { return this.#next++ }
  id() { return `${this.#prefix}-${this.#next++}` }
}

// load gives every part of a document its key. The document is left as it is.
export function load(document, mint) {
  const keyed = object => ({...object, [KEY]: mint.key()})
  const row = r => ({...keyed(r), seats: (r.seats ?? []).map(keyed)})
  return {
    ...document,
    categories: (document.categories ?? []).map(keyed),
    sections: (document.sections ?? []).map(s => ({
      ...keyed(s),
      ...s.rows && {rows: s.rows.map(row)},
      ...s.tables && {tables: s.tables.map(row)},
      ...s.area && {area: {...s.area, ...s.area.places && {places: s.area.places.map(keyed)}}},
    })),
    ...document.shapes && {shapes: document.shapes.map(keyed)},
  }
}

// save is the plan as a document again, in its order and with nothing but what files have.
export const save = plan => JSON.parse(JSON.stringify(plan))

// set is an object with another value of one field; the object itself if it is the same, without the field if it is
// undefined.
export function set(object, field, value) {
  if (object[field] === value) return object
  const {[field]: _, ...rest} = object
  return value === undefined ? rest : {...object, [field]: value}
}

export const assign = (object, fields) => Object.entries(fields).reduce((o, [field, value]) => set(o, field, value), object)

// mapped is a list with each thing as f wants it, without those for which it is undefined; the list itself if all stay.
export function mapped(list, f) {
  if (!list) return list
  let changed = false
  const out = []
  for (const item of list) {
    const now = f(item)
    changed ||= now !== item
    if (now !== undefined) out.push(now)
  }
  return changed ? out : list
}

// partsOf lists the rows and the tables of a section.
export const partsOf = section => [...section.rows ?? [], ...section.tables ?? []]
export const placesOf = section => section.area?.places ?? []
export const seatsOf = section => [...partsOf(section).flatMap(part => part.seats), ...placesOf(section)]
export const labelOf = part => part.row ?? part.table

// mapParts is a section with each row and table as f wants it. Those without seats go. What generators made is no longer
// what they make, so they go too.
export function mapParts(section, f) {
  const keep = part => {
    const now = f(part)
    return now?.seats.length ? now : undefined
  }
  const rows = mapped(section.rows, keep), tables = mapped(section.tables, keep)
  if (rows === section.rows && tables === section.tables) return section
  return assign(section, {rows, tables, generate: undefined})
}

// mapSeats is a plan with each seat and place as f(seat, part, section) wants it.
export function mapSeats(plan, f) {
  return set(plan, 'sections', mapped(plan.sections, section => {
    const now = mapParts(section, part => set(part, 'seats', mapped(part.seats, seat => f(seat, part, section))))
    const places = mapped(section.area?.places, place => f(place, undefined, section))
    return places === section.area?.places ? now : set(now, 'area', {...section.area, capacity: places.length, places})
  }))
}

export const mapSections = (plan, f) => set(plan, 'sections', mapped(plan.sections, f))
export const mapShapes = (plan, f) => plan.shapes ? set(plan, 'shapes', mapped(plan.shapes, f)) : plan

// index is where everything of a plan is, by key: {seat, part, section, shape}. It is made once for each plan.
const indexes = new WeakMap()
export function index(plan) {
  let found = indexes.get(plan)
  if (found) return found
  indexes.set(plan, found = new Map())
  for (const section of plan.sections) {
    found.set(section[KEY], {section})
    for (const part of partsOf(section)) {
      found.set(part[KEY], {part, section})
      for (const seat of part.seats) found.set(seat[KEY], {seat, part, section})
    }
    for (const seat of placesOf(section)) found.set(seat[KEY], {seat, section})
  }
  for (const shape of plan.shapes ?? []) found.set(shape[KEY], {shape})
  return found
}

// categoryOf is the key of what a seat costs.
export const categoryOf = (seat, section) => seat.category ?? section.category

export const seatCount = plan => plan.sections.reduce((n, s) => n + (s.area ? s.area.capacity : seatsOf(s).length), 0)

// alive leaves out of a selection what is not in the plan any more.
export function alive(plan, selection) {
  const has = index(plan)
  return new Set([...selection].filter(key => has.has(key)))
}

const ROLES = {stage: T('Stage'), wall: T('Wall'), table: T('Table'), label: T('Label'), other: T('Shape')}
export const OBJECTS = {entrance: T('Entrance'), exit: T('Exit'), bar: T('Bar'), toilets: T('Toilets'), lift: T('Lift'), stairs: T('Stairs'), cloakroom: T('Cloakroom')}
const KINDS = {polygon: T('polygon'), line: T('line'), ellipse: T('ellipse')}

// words is what a thing is called in a list or by a screen reader.
export function words(plan, key) {
  const {section: {name} = {}, part, seat, shape} = index(plan).get(key) ?? {}
  if (shape?.kind === 'icon') return OBJECTS[shape.role] ?? shape.role
  if (shape) return shape.kind === 'text' ? T('Text “%s”', shape.text) : T('%s (%s)', ROLES[shape.role] ?? shape.role, KINDS[shape.kind] ?? shape.kind)
  if (!part) return seat ? T('%s, place %s', name, seat.number) : name ?? ''
  const {table, row} = part
  if (table !== undefined) return seat ? T('%s, table %s, seat %s', name, table, seat.number) : T('%s, table %s', name, table)
  return seat ? T('%s, row %s, seat %s', name, row, seat.number) : T('%s, row %s', name, row)
}
