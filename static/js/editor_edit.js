// Edits of what is selected: move, turn, align, duplicate, delete, and what seats are. Each takes a plan and a selection
// (a set of keys) and returns {plan, selection}; what it leaves alone stays the same object.

import {KEY, alive, assign, index, labelOf, mapParts, mapSeats, mapSections, mapShapes, mapped, partsOf, placesOf, seatsOf, set} from 'usher/editor_model'
import {boxOf, corners, line, lineOf, middle, mover, pointsOf, tenth, turner} from 'usher/editor_shape'
import {follows, freeName} from 'usher/editor_number'

// whole reports whether all seats of a row or table are selected, or the table itself.
const whole = (part, keys) => keys.has(part[KEY]) || part.seats.every(seat => keys.has(seat[KEY]))

const movedPoint = (point, f) => {
  const now = f(point)
  return now[0] === point[0] && now[1] === point[1] ? point : now
}
const movedPoints = (points, f) => mapped(points, p => movedPoint(p, f))

const movedSeat = (seat, f) => {
  const [x, y] = f([seat.x, seat.y])
  return assign(seat, {x, y})
}

function movedPart(part, keys, f) {
  const all = whole(part, keys)
  const now = set(part, 'seats', mapped(part.seats, seat => all || keys.has(seat[KEY]) ? movedSeat(seat, f) : seat))
  if (!all || !part.center) return now
  const turned = part.size && f.degrees ? {rotation: degrees((part.rotation ?? 0) + f.degrees)} : {}
  return assign(now, {center: movedPoint(part.center, f), ...turned})
}

const degrees = angle => tenth(((angle % 360) + 540) % 360 - 180)

function movedShape(shape, f) {
  if (shape.points) return set(shape, 'points', movedPoints(shape.points, f))
  const now = set(shape, 'center', movedPoint(shape.center ?? [0, 0], f))
  return f.degrees && shape.kind !== 'icon' ? set(now, 'rotation', degrees((shape.rotation ?? 0) + f.degrees) || undefined) : now
}

// transform moves the selected things by f, which takes a point to another. A section moves with all that is in it, a
// table with its seats.
export function transform(plan, selection, f) {
  let now = mapSections(plan, section => {
    const keys = selection.has(section[KEY]) ? {has: () => true} : selection
    const moved = mapParts(section, part => movedPart(part, keys, f))
    if (keys === selection) return moved
    const area = section.area && assign(section.area, {places: mapped(section.area.places, seat => movedSeat(seat, f))})
    return assign(moved, {outline: movedPoints(section.outline, f), ...area && {area}})
  })
  now = mapShapes(now, shape => selection.has(shape[KEY]) ? movedShape(shape, f) : shape)
  return {plan: now, selection}
}

export const move = (plan, selection, dx, dy) => transform(plan, selection, mover(dx, dy))
export const turn = (plan, selection, by, center = middleOf(plan, selection)) => center ? transform(plan, selection, turner(center, by)) : {plan, selection}

const seatPoints = seats => seats.map(s => [s.x, s.y])
const partPoints = part => [...seatPoints(part.seats), ...part.center ? part.size ? corners(part) : [[part.center[0] - (part.radius ?? 0), part.center[1] - (part.radius ?? 0)], [part.center[0] + (part.radius ?? 0), part.center[1] + (part.radius ?? 0)]] : []]
export const sectionPoints = section => [...section.outline ?? [], ...partsOf(section).flatMap(partPoints), ...seatPoints(placesOf(section))]

// units are the things of a selection that move as one: a section, the selected seats of a row, a shape. Each is
// {keys, box}.
export function units(plan, selection) {
  const list = []
  const add = (keys, points) => { if (points.length) list.push({keys: new Set(keys), box: boxOf(points)}) }
  for (const section of plan.sections) {
    if (selection.has(section[KEY])) {
      add([section[KEY]], sectionPoints(section))
      continue
    }
    for (const part of partsOf(section)) {
      const seats = selection.has(part[KEY]) ? part.seats : part.seats.filter(seat => selection.has(seat[KEY]))
      add(seats.map(s => s[KEY]), seats.length === part.seats.length ? partPoints(part) : seatPoints(seats))
    }
  }
  for (const shape of plan.shapes ?? []) if (selection.has(shape[KEY])) add([shape[KEY]], pointsOf(shape))
  return list
}

export const boxOfSelection = (plan, selection) => boxOf(units(plan, selection).flatMap(u => [[u.box.left, u.box.top], [u.box.right, u.box.bottom]]))
const middleOf = (plan, selection) => {
  const box = boxOfSelection(plan, selection)
  return box && middle(box)
}

// align moves the units of a selection to one edge or middle line of them all: left, center, right, top, middle, bottom.
export function align(plan, selection, how) {
  const all = boxOfSelection(plan, selection)
  if (!all) return {plan, selection}
  const offset = {
    left: b => [all.left - b.left, 0], right: b => [all.right - b.right, 0], center: b => [middle(all)[0] - middle(b)[0], 0],
    top: b => [0, all.top - b.top], bottom: b => [0, all.bottom - b.bottom], middle: b => [0, middle(all)[1] - middle(b)[1]],
  }[how]
  const now = units(plan, selection).reduce((p, u) => move(p, u.keys, ...offset(u.box)).plan, plan)
  return {plan: now, selection}
}

// distribute puts the middles of the units of a selection at equal distances, across or down.
export function distribute(plan, selection, down) {
  const axis = down ? 1 : 0, list = units(plan, selection).sort((a, b) => middle(a.box)[axis] - middle(b.box)[axis])
  if (list.length < 3) return {plan, selection}
  const first = middle(list[0].box)[axis], last = middle(list.at(-1).box)[axis]
  const now = list.reduce((p, u, i) => {
    const by = first + (last - first) * i / (list.length - 1) - middle(u.box)[axis]
    return move(p, u.keys, down ? 0 : by, down ? by : 0).plan
  }, plan)
  return {plan: now, selection}
}

// layRows lays the selected rows anew along a line, straight or curved: what {n, spacing, angle, bend} says, the rest as it
// is. More seats come at the end of the row, fewer leave from there.
export function layRows(plan, selection, fields, mint) {
  const added = new Set(selection)
  const now = mapSections(plan, section => mapParts(section, part => {
    if (part.table !== undefined || !part.seats.some(seat => selection.has(seat[KEY])) && !selection.has(part[KEY])) return part
    const seats = sized(part.seats, fields.n ?? part.seats.length, mint)
    for (const seat of seats) added.add(seat[KEY])
    const points = line({...lineOf(seatPoints(part.seats)), ...fields, n: seats.length})
    return set(part, 'seats', seats.map((seat, i) => assign(seat, {x: points[i][0], y: points[i][1]})))
  }))
  return {plan: now, selection: alive(now, added)}
}

// sized is a row with as many seats.
function sized(seats, n, mint) {
  const list = seats.slice(0, Math.max(1, n))
  while (list.length < n) {
    const last = list.at(-1)
    const {flags: _, ...like} = last
    list.push({...like, id: mint.id(), number: follows(list.map(s => s.number)), [KEY]: mint.key()})
  }
  return list
}

// remove deletes what is selected. A section goes with everything in it.
export function remove(plan, selection) {
  let now = mapSections(plan, section => selection.has(section[KEY]) ? undefined : section)
  now = mapSections(now, section => mapParts(section, part => selection.has(part[KEY]) ? undefined : part))
  now = mapSeats(now, (seat, part) => part && selection.has(seat[KEY]) ? undefined : seat)
  now = mapShapes(now, shape => selection.has(shape[KEY]) ? undefined : shape)
  return {plan: now, selection: alive(now, selection)}
}

// duplicate puts a copy of what is selected beside it, with names and ids of its own, and selects the copy.
export function duplicate(plan, selection, dx, dy, mint) {
  const f = mover(dx, dy), copies = new Set(), names = plan.sections.map(s => s.name), sections = []
  const seat = s => {
    const copy = {...movedSeat(s, f), id: mint.id(), [KEY]: mint.key()}
    copies.add(copy[KEY])
    return copy
  }
  const part = p => ({...p, [KEY]: mint.key(), seats: p.seats.map(seat), ...p.center && {center: f(p.center)}})
  for (const section of plan.sections) {
    sections.push(section)
    if (!selection.has(section[KEY])) continue
    const copy = copyOfSection(section, freeName(section.name, names), f, part, mint)
    names.push(copy.name)
    copies.add(copy[KEY])
    sections.push(copy)
  }
  let now = set(plan, 'sections', copies.size ? sections : plan.sections)
  now = mapSections(now, section => copies.has(section[KEY]) || selection.has(section[KEY]) ? section : withCopies(section, selection, part))
  const shapes = []
  for (const shape of plan.shapes ?? []) {
    if (!selection.has(shape[KEY])) continue
    const copy = {...movedShape(shape, f), [KEY]: mint.key()}
    copies.add(copy[KEY])
    shapes.push(copy)
  }
  if (shapes.length) now = set(now, 'shapes', [...now.shapes, ...shapes])
  return {plan: now, selection: alive(now, copies)}
}

function copyOfSection(section, name, f, part, mint) {
  const {generate: _, ...rest} = section
  const copy = {...rest, name, [KEY]: mint.key()}
  if (section.outline) copy.outline = section.outline.map(f)
  if (section.rows) copy.rows = section.rows.map(part)
  if (section.tables) copy.tables = section.tables.map(part)
  if (section.area) copy.area = {...section.area, ...section.area.places && {places: section.area.places.map(p => ({...movedSeat(p, f), id: mint.id(), [KEY]: mint.key()}))}}
  return copy
}

// withCopies is a section with a row more for each that has selected seats.
function withCopies(section, selection, part) {
  const add = (list, field) => {
    const labels = partsOf(section).map(labelOf), more = []
    for (const p of list ?? []) {
      const seats = selection.has(p[KEY]) ? p.seats : p.seats.filter(s => selection.has(s[KEY]))
      if (!seats.length) continue
      const label = follows(labels)
      labels.push(label)
      more.push({...part({...p, seats}), [field]: label})
    }
    return more.length ? [...list, ...more] : list
  }
  const rows = add(section.rows, 'row'), tables = add(section.tables, 'table')
  return rows === section.rows && tables === section.tables ? section : assign(section, {rows, tables, generate: undefined})
}

// about reports whether an edit of seats is about this one: it, its row or its section is selected.
const about = (selection, seat, part, section) => selection.has(seat[KEY]) || part && selection.has(part[KEY]) || selection.has(section[KEY])

// setCategory gives the selected seats another price. An area has one for all its places.
export function setCategory(plan, selection, key) {
  const now = mapSections(plan, section => {
    const all = seatsOf(section)
    const whole = selection.has(section[KEY]) || section.area && all.some(s => selection.has(s[KEY])) || all.length && all.every(s => selection.has(s[KEY]))
    const own = seat => set(seat, 'category', undefined)
    if (whole) {
      const bare = mapParts(section, part => set(part, 'seats', mapped(part.seats, own)))
      const area = section.area && set(section.area, 'places', mapped(section.area.places, own))
      return assign(bare, {category: key, ...area && {area}})
    }
    return mapParts(section, part => set(part, 'seats', mapped(part.seats, seat => about(selection, seat, part, section) ? set(seat, 'category', key === section.category ? undefined : key) : seat)))
  })
  return {plan: mapSections(now, s => index(plan).get(s[KEY])?.section === s ? s : set(s, 'generate', undefined)), selection}
}

export const FLAGS = ['accessible', 'companion', 'restricted-view', 'aisle-after']

// setFlag says of the selected seats that something is so, or not.
export function setFlag(plan, selection, flag, on) {
  const now = mapSeats(plan, (seat, part, section) => {
    if (!about(selection, seat, part, section)) return seat
    const has = seat.flags ?? []
    if (has.includes(flag) === on) return seat
    const flags = on ? FLAGS.filter(f => f === flag || has.includes(f)) : has.filter(f => f !== flag)
    return set(seat, 'flags', flags.length ? flags : undefined)
  })
  return {plan: now, selection}
}

const MARGIN = 40

// fitted is a plan whose drawing holds everything: it grows to the right and downwards, and if something is beyond its
// left or upper edge, everything moves.
export function fitted(plan) {
  const box = boxOf([...plan.sections.flatMap(sectionPoints), ...(plan.shapes ?? []).flatMap(pointsOf)])
  if (!box) return plan
  const dx = box.left < 0 ? MARGIN - box.left : 0, dy = box.top < 0 ? MARGIN - box.top : 0
  const room = (edge, size) => size && edge <= size ? size : Math.ceil(edge + MARGIN)
  let now = plan
  if (dx || dy) {
    now = transform(plan, new Set(index(plan).keys()), mover(tenth(dx), tenth(dy))).plan
    if (now.focus) now = set(now, 'focus', mover(tenth(dx), tenth(dy))(now.focus))
    now = set(now, 'underlays', mapped(now.underlays, u => ({...u, x: tenth(u.x + dx), y: tenth(u.y + dy)})))
  }
  return assign(now, {width: room(box.right + dx, plan.width && plan.width + (dx ? dx : 0)), height: room(box.bottom + dy, plan.height && plan.height + (dy ? dy : 0))})
}
