// What is under a point or inside a line drawn around it, and where a thing that is moved would fit.

import {inside} from 'usher/geometry'
import {KEY, labelOf, partsOf, seatsOf} from 'usher/editor_model'
import {SPACING, corners, pointsOf} from 'usher/editor_shape'
import {T} from 'usher/text'

const CELL = 4 * SPACING

// grid are the seats of a plan by the cells they stand in, made once for each plan.
const grids = new WeakMap()
function grid(plan) {
  let cells = grids.get(plan)
  if (cells) return cells
  grids.set(plan, cells = new Map())
  for (const section of plan.sections) {
    for (const part of partsOf(section)) {
      for (const seat of part.seats) {
        const at = `${Math.floor(seat.x / CELL)} ${Math.floor(seat.y / CELL)}`
        if (!cells.has(at)) cells.set(at, [])
        cells.get(at).push({seat, part, section})
      }
    }
  }
  return cells
}

function* near(plan, x, y, reach) {
  const cells = grid(plan)
  for (let i = Math.floor((x - reach) / CELL); i <= Math.floor((x + reach) / CELL); i++) {
    for (let j = Math.floor((y - reach) / CELL); j <= Math.floor((y + reach) / CELL); j++) yield* cells.get(`${i} ${j}`) ?? []
  }
}

// pick is what is at a point, the topmost first: {seat, part, section}, {part, section} for a table's top, {shape} or
// {section} for an area or an outline. reach is how far from it a finger may be, in units.
export function pick(plan, [x, y], reach) {
  let found, least = Math.max(reach, SPACING * .45)
  for (const at of near(plan, x, y, least)) {
    const d = Math.hypot(at.seat.x - x, at.seat.y - y)
    if (d < least) [found, least] = [at, d]
  }
  return found ?? tableAt(plan, x, y) ?? shapeAt(plan, x, y, reach) ?? sectionAt(plan, x, y, reach)
}

function tableAt(plan, x, y) {
  for (const section of plan.sections) {
    for (const part of section.tables ?? []) {
      if (!part.center) continue
      if (part.size ? inside(corners(part), x, y) : Math.hypot(part.center[0] - x, part.center[1] - y) < (part.radius ?? 0)) return {part, section}
    }
  }
}

function shapeAt(plan, x, y, reach) {
  return [...plan.shapes ?? []].reverse().map(shape => touches(shape, x, y, reach) && {shape}).find(Boolean)
}

function touches(shape, x, y, reach) {
  if (shape.kind === 'polygon') return inside(shape.points, x, y)
  if (shape.kind === 'line') return shape.points.some((p, i) => i && away(shape.points[i - 1], p, x, y) <= reach)
  const points = pointsOf(shape)
  return x >= points[0][0] && x <= points[1][0] && y >= points[0][1] && y <= points[1][1]
}

// away is how far a point is from the line between two others.
export function away([ax, ay], [bx, by], x, y) {
  const t = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)))
  return Math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay))
}

// sectionAt is an area, anywhere in it, or a section of rows by its outline: inside of that a frame around seats may begin.
function sectionAt(plan, x, y, reach) {
  const edge = outline => outline.some((p, i) => away(p, outline[(i + 1) % outline.length], x, y) <= reach)
  const section = [...plan.sections].reverse().find(s => s.outline?.length > 2 && (s.area ? inside(s.outline, x, y) : edge(s.outline)))
  return section && {section}
}

// keysOf is what a tap on something selects, as the level says: single seats, whole rows, or whole sections.
export function keysOf(at, level) {
  if (!at) return []
  if (at.shape) return [at.shape[KEY]]
  if (level === 'sections' || !at.part) return [at.section[KEY], ...seatsOf(at.section).map(s => s[KEY])]
  if (level === 'rows' || !at.seat) return [...at.part.table !== undefined ? [at.part[KEY]] : [], ...at.part.seats.map(s => s[KEY])]
  return [at.seat[KEY]]
}

// enclosed are the keys of what a line drawn around it selects.
export function enclosed(plan, polygon, level) {
  const keys = new Set()
  const take = list => { for (const key of list) keys.add(key) }
  for (const section of plan.sections) {
    for (const part of partsOf(section)) {
      for (const seat of part.seats) if (inside(polygon, seat.x, seat.y)) take(keysOf({seat, part, section}, level))
    }
    if (section.area && section.outline?.every(([x, y]) => inside(polygon, x, y))) take(keysOf({section}, level))
  }
  for (const shape of plan.shapes ?? []) if (pointsOf(shape).every(([x, y]) => inside(polygon, x, y))) keys.add(shape[KEY])
  return keys
}

// snap is where a point that is moved stands in line with seats that stay: {x, y, lines}, near the point by reach at most.
// A seat beside or behind another one keeps the usual distance too.
export function snap(plan, [x, y], selection, reach) {
  let bestX = reach, bestY = reach, sx, sy
  for (const {seat, part} of near(plan, x, y, 8 * SPACING)) {
    if (selection.has(seat[KEY]) || selection.has(part[KEY])) continue
    for (const by of [0, -SPACING, SPACING]) {
      if (Math.abs(seat.x + by - x) < bestX) [bestX, sx] = [Math.abs(seat.x + by - x), seat.x + by]
      if (Math.abs(seat.y + by - y) < bestY) [bestY, sy] = [Math.abs(seat.y + by - y), seat.y + by]
    }
  }
  return {x: sx ?? x, y: sy ?? y, lines: [sx !== undefined && ['x', sx], sy !== undefined && ['y', sy]].filter(Boolean)}
}

// rowsAt names the rows something is in, for a card beside the pointer.
export const nameAt = at => at?.seat ? at.part.table !== undefined ? T('%s, %s, seat %s', at.section.name, at.part.table, at.seat.number) : T('%s, row %s, seat %s', at.section.name, at.part.row, at.seat.number) : at?.part ? T('%s, %s', at.section.name, labelOf(at.part)) : at?.section?.name ?? ''
