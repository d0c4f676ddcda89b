// What each tool does with the pointer on the picture. A gesture is {move(point), end(point), cancel()}; tools return one
// where the pointer goes down. Points are those of the plan.

import {boxOfSelection, move, transform} from 'usher/editor_edit'
import {KEY, index} from 'usher/editor_model'
import {editShape, layArea, makeArea, makeRows, makeShape, makeTable, roundRadius} from 'usher/editor_make'
import {editSection} from 'usher/editor_section'
import {enclosed, keysOf, pick, snap} from 'usher/editor_pick'
import {ROW_SPACING, SPACING, around, line, mover, tenth, turner} from 'usher/editor_shape'
import {set} from 'usher/editor_model'
import {editUnderlay, measured, scaledBy, underlayOf} from 'usher/editor_under'
import {T} from 'usher/text'

export const wishes = { // what the next thing will be, as the forms of the tools say
  rows: {rows: 5, seats: 12, bend: 0, grow: 0, row: '', number: '1', step: '1', from: 'left'},
  round: {seats: 8}, long: {seats: 8, width: 120, depth: 40}, area: {capacity: 100}, shape: {kind: 'polygon', role: 'stage'}, object: {role: 'entrance', size: 30}, text: {text: T('Text'), size: 24},
}

const rectangle = ([ax, ay], [bx, by]) => [[Math.min(ax, bx), Math.min(ay, by)], [Math.max(ax, bx), Math.min(ay, by)], [Math.max(ax, bx), Math.max(ay, by)], [Math.min(ax, bx), Math.max(ay, by)]]
const far = ([ax, ay], [bx, by]) => Math.hypot(ax - bx, ay - by)
const grid = (state, p) => state.snaps ? p.map(n => Math.round(n / 5) * 5) : p.map(tenth)

const handleReach = state => 9 / state.camera.scale

// turnHandle is the point by which a selection is turned: above its box.
export function turnHandle(state) {
  if (state.tool !== 'select' || !state.selection.size) return
  const box = boxOfSelection(state.plan, state.selection)
  return box && [(box.left + box.right) / 2, box.top - 28 / state.camera.scale]
}

// polygonOf is the polygon with movable corners: that of the one shape, area or outline that is selected.
export function polygonOf(state) {
  const own = [...state.selection].map(key => index(state.plan).get(key)).filter(at => at?.shape || at?.section && !at.part && !at.seat)
  if (own.length !== 1) return
  const {shape, section} = own[0]
  if (shape?.points && state.selection.size === 1) return {points: shape.points, set: points => state.act(plan => ({plan: editShape(plan, shape[KEY], {points})}))}
  if (section?.outline?.length <= 40) return {points: section.outline, set: outline => state.act((plan, s, mint) => section.area ? {...layArea(plan, section[KEY], {outline}, mint), selection: s} : {plan: editSection(plan, section[KEY], {outline})})}
}

export const tools = {
  select(state, at, event, reach) {
    const turn = turnHandle(state)
    if (turn && far(turn, at) < handleReach(state) * 1.5) return turning(state)
    const polygon = polygonOf(state), corner = polygon?.points.findIndex(p => far(p, at) < handleReach(state)) ?? -1
    if (corner >= 0) return cornering(state, polygon, corner)
    const found = pick(state.shown, at, reach), keys = keysOf(found, state.level), many = event.shiftKey || event.ctrlKey || event.metaKey
    if (!keys.length) return event.pointerType === 'touch' ? undefined : lasso(state, at, many, event.altKey)
    const had = keys.every(key => state.selection.has(key))
    if (many && had) return {move() {}, end: () => state.deselect(keys), cancel() {}}
    if (event.pointerType === 'touch' && !had) return {move() {}, end: () => state.select(keys, many), cancel() {}, pans: true}
    if (!had) state.select(keys, many)
    return moving(state, at, found)
  },

  rows(state, at) {
    const wish = wishes.rows, from = grid(state, at)
    let made
    const lay = to => {
      const dragged = far(from, to) > SPACING
      const seats = dragged ? Math.max(1, Math.round(Math.abs(to[0] - from[0]) / SPACING) + 1) : Number(wish.seats), rows = dragged ? Math.max(1, Math.round(Math.abs(to[1] - from[1]) / ROW_SPACING) + 1) : Number(wish.rows)
      const left = dragged ? Math.min(from[0], to[0]) : from[0], top = dragged ? Math.min(from[1], to[1]) : from[1]
      made = rowsWish({...wish, rows, seats}, dragged ? [left + (seats - 1) * SPACING / 2, top] : from)
      const points = Array.from({length: Math.min(rows, 200)}, (_, i) => line({at: [made.at[0], made.at[1] + i * ROW_SPACING], n: seats + i * made.grow, bend: made.bend})).flat()
      state.marks = {points, label: {at: [left + seats * SPACING / 2, top], text: `${rows} × ${seats} = ${points.length}`}}
      state.look()
    }
    lay(from)
    return drawing(state, lay, () => state.act((plan, _, mint) => makeRows(plan, made, state.section, mint)))
  },

  round: (state, at) => placing(state, at, p => around({center: p, radius: roundRadius(wishes.round.seats)}, wishes.round.seats), p => state.act((plan, _, mint) => makeTable(plan, {at: p, seats: wishes.round.seats, whole: wishes.round.whole}, state.section, mint))),
  long: (state, at) => placing(state, at, p => around({center: p, size: longSize()}, wishes.long.seats), p => state.act((plan, _, mint) => makeTable(plan, {at: p, seats: wishes.long.seats, whole: wishes.long.whole, size: longSize()}, state.section, mint))),
  text: (state, at) => placing(state, at, p => [p], p => state.act((plan, _, mint) => makeShape(plan, {kind: 'text', role: 'label', center: p, text: wishes.text.text, size: wishes.text.size}, mint))),
  object: (state, at) => placing(state, at, p => [p], p => state.act((plan, _, mint) => makeShape(plan, {kind: 'icon', center: p, ...wishes.object}, mint))),
  focus: (state, at) => placing(state, at, p => [p], p => {
    state.act(plan => ({plan: set(plan, 'focus', p)}))
    state.use('select')
  }),

  under(state, from) {
    const u = underlayOf(state.shown)
    let by = [0, 0]
    return u && {
      move(to) {
        by = [tenth(to[0] - from[0]), tenth(to[1] - from[1])]
        state.moved = [...by, 1]
        state.look()
      },
      end() {
        done(state)
        if (by[0] || by[1]) state.act(plan => ({plan: editUnderlay(plan, u, {x: tenth(u.x + by[0]), y: tenth(u.y + by[1])})}))
      },
      cancel: () => done(state),
    }
  },
  scale(state, from) {
    const u = underlayOf(state.shown)
    let to
    return u && drawing(state, p => {
      to = p
      state.marks = {path: [from, to], handles: [from, to]}
      state.look()
    }, () => to && far(from, to) > 1 && state.act(plan => ({plan: editUnderlay(plan, u, scaledBy(u, from, to, measured.seats))})))
  },

  area: (state, at) => outlining(state, at, outline => state.act((plan, _, mint) => makeArea(plan, {outline, capacity: wishes.area.capacity}, mint))),
  outline: (state, at) => outlining(state, at, outline => {
    if (state.section) state.act(plan => ({plan: editSection(plan, state.section, {outline})}))
    state.use('select')
  }),
  shape(state, at) {
    const {kind, role} = wishes.shape
    if (kind !== 'ellipse') return outlining(state, at, points => state.act((plan, _, mint) => makeShape(plan, {kind, role, points}, mint)), kind === 'line' ? 2 : 3)
    const from = grid(state, at)
    let box
    return drawing(state, p => {
      box = rectangle(from, grid(state, p))
      state.marks = {path: [...box, box[0]]}
      state.look()
    }, () => box && far(box[0], box[2]) > 4 && state.act((plan, _, mint) => makeShape(plan, {kind, role, center: [(box[0][0] + box[2][0]) / 2, (box[0][1] + box[2][1]) / 2], rx: tenth((box[2][0] - box[0][0]) / 2) || 1, ry: tenth((box[2][1] - box[0][1]) / 2) || 1}, mint)))
  },
}

export const longSize = () => [wishes.long.width, wishes.long.depth]

// rowsWish is what the form about rows says, at a point.
export const rowsWish = (w, at) => ({
  at, rows: Number(w.rows), seats: Number(w.seats), bend: Number(w.bend), grow: Number(w.grow), row: w.row ? {start: w.row, skip: 'IO'} : undefined, number: {start: w.number, step: Number(w.step), from: w.from},
})

function moving(state, from, found) {
  const anchor = found.seat ? [found.seat.x, found.seat.y] : from
  let by = [0, 0]
  return {
    move(to) {
      let goal = [anchor[0] + to[0] - from[0], anchor[1] + to[1] - from[1]], guides = []
      if (state.snaps) {
        const s = snap(state.shown, goal, state.selection, 6 / state.camera.scale)
        goal = [s.x, s.y]
        guides = s.lines
      }
      by = [tenth(goal[0] - anchor[0]), tenth(goal[1] - anchor[1])]
      state.ghost = {selection: state.selection, f: mover(...by)}
      state.marks = {guides}
      state.look()
    },
    end() {
      done(state)
      if (by[0] || by[1]) state.act((plan, s) => move(plan, s, ...by))
    },
    cancel: () => done(state),
  }
}

function turning(state) {
  const box = boxOfSelection(state.plan, state.selection), center = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
  let f
  return {
    move(to, event) {
      const degrees = Math.atan2(to[1] - center[1], to[0] - center[0]) * 180 / Math.PI + 90, step = event.shiftKey || !state.snaps ? 1 : 15
      f = turner(center, Math.round(degrees / step) * step)
      state.ghost = {selection: state.selection, f}
      state.marks = {label: {at: center, text: `${f.degrees}°`}}
      state.look()
    },
    end() {
      done(state)
      if (f) state.act((plan, s) => transform(plan, s, f))
    },
    cancel: () => done(state),
  }
}

function cornering(state, polygon, at) {
  let points = polygon.points
  return {
    move(to) {
      points = polygon.points.map((p, i) => i === at ? grid(state, to) : p)
      state.marks = {path: [...points, points[0]], handles: points}
      state.look()
    },
    end() {
      done(state)
      if (points !== polygon.points) polygon.set(points)
    },
    cancel: () => done(state),
  }
}

// lasso selects what is inside a frame; with Alt held, inside a line drawn by hand.
function lasso(state, from, add, free) {
  let polygon = [from]
  return {
    move(to) {
      polygon = free ? [...polygon, to] : rectangle(from, to)
      state.marks = {lasso: polygon}
      state.look()
    },
    end() {
      done(state)
      state.select(polygon.length > 2 ? enclosed(state.shown, polygon, state.level) : [], add)
    },
    cancel: () => done(state),
  }
}

const drawing = (state, lay, end) => ({
  move: lay,
  end() {
    done(state)
    end()
    state.use('select')
  },
  cancel: () => done(state),
})

function placing(state, at, points, end) {
  let p = grid(state, at)
  const show = to => {
    p = grid(state, to)
    state.marks = {points: points(p)}
    state.look()
  }
  show(at)
  return drawing(state, show, () => end(p))
}

// outlining draws a polygon: a frame where the pointer is dragged, else corner by corner, until a corner is set on the
// first or the last one.
function outlining(state, at, end, least = 3) {
  const corner = grid(state, at), corners = state.corners ?? []
  let box
  return {
    move(to) {
      if (corners.length || far(at, to) < 8 / state.camera.scale) return
      box = least > 2 ? rectangle(corner, grid(state, to)) : [corner, grid(state, to)]
      state.marks = {path: [...box, box[0]]}
      state.look()
    },
    end() {
      if (box) return finish(box)
      const near = p => far(p, corner) < 8 / state.camera.scale
      if (corners.length >= least && (near(corners[0]) || near(corners.at(-1)))) return finish(corners)
      state.corners = [...corners, corner]
      state.marks = {path: state.corners, handles: state.corners}
      state.look()
    },
    cancel: () => done(state),
  }
  function finish(points) {
    done(state)
    if (points.length >= least) end(points)
    state.use('select')
  }
}

// done puts away what the hand was at.
export function done(state) {
  state.ghost = state.moved = undefined
  state.corners = undefined
  state.marks = {}
  state.look()
}
