// The map: the server's drawing of the sections below, every seat on a canvas above. It is a second picture of the
// rows; whatever is tapped here goes the way of the checkboxes.

import {filter} from 'usher/filter'
import {labelOf, numberOf, together} from 'usher/geometry'
import {words} from 'usher/label'
import {hold} from 'usher/hold'
import {follow as followHouse, freeIn, openSection, toggle, word} from 'usher/list'
import {live} from 'usher/live'
import {$, $$, calm, data, number, path} from 'usher/page'
import {Painter} from 'usher/paint'
import {Stage} from 'usher/stage'
import {N, T} from 'usher/text'

const TOUCH = 24, MOUSE = 11 // the least distance between seats, in px, at which one can be picked
const RING = 700, RINGS = 80 // ms a changed seat is ringed, and how many at once
const REST = 120 // ms without a move after which the card says what has the focus

const frame = $('#map'), stage = frame && new Stage(frame)
let house, view, painter, waiting, naming, focused = -1, pointed = -1
const rings = new Map() // idx → since when

// soon redraws after the page has shown what was done: answering a tap comes before its picture.
function soon() {
  waiting ??= requestAnimationFrame(() => setTimeout(() => {
    waiting = undefined
    stage.redraw()
  }))
}

// drawRings is what is seen above the seats: those that changed, the one that has the focus and the one under the pointer.
function drawRings({detail: now}) {
  for (const [idx, start] of rings) {
    const t = (now - start) / RING
    if (t >= 1) rings.delete(idx)
    else painter.ring(idx, view, 6 * Math.max(0, t), 1 - Math.max(0, t))
  }
  for (const idx of new Set([focused, pointed])) if (idx >= 0) painter.ring(idx, view, 0, 1)
  if (rings.size) stage.more = true
}

function tapped({detail: {x, y, touch}}) {
  hideCard()
  const idx = stage.seatAt(x, y, touch ? TOUCH : MOUSE)
  if (idx >= 0) {
    if (stage.choose?.(idx)) return
    if (touch && live.states?.[idx] && !hold.seats.has(idx)) name(x, y, touch) // why it cannot be had
    return toggle(idx, labelOf(house, idx))
  }
  const at = stage.sectionAt(x, y)
  if (at < 0) return
  if (Number(frame.dataset.section) !== at) enter(at)
  if (!house.sections[at].pitch) return
  const [scale, left, top] = view.around(house.sections[at])
  const pick = (touch ? TOUCH : MOUSE) * 1.15 / house.sections[at].pitch
  if (view.scale < scale * .9) return view.fly(scale, left, top)
  // The whole section is in view and its seats are still too small: go closer to where it was tapped.
  const [px, py] = view.plan(x, y), close = Math.max(pick, view.scale * 1.6)
  view.fly(close, px - view.width / close / 2, py - view.height / close / 2)
}

// climb shows the floor that a section is on.
const climb = (at, told) => stage.climb(house.sections[at].floor ?? 0, told)

// enter opens the rows of a section beside the map, at their own address.
async function enter(at, push = true) {
  frame.dataset.section = at
  climb(at, false)
  const wanted = () => Number(frame.dataset.section) === at // and no other one was tapped since
  try {
    await openSection(at, wanted)
    if (!wanted()) return
  } catch {
    if (!wanted()) return
    location.href = `${path}/sections/${at}${filter.query()}`
    return
  }
  $('.panel').scrollTop = 0
  frame.dispatchEvent(new CustomEvent('section', {detail: !house.sections[at].pitch, bubbles: true}))
  if (push) history.pushState(stage.state(), '', `${path}/sections/${at}${filter.query()}`)
  document.title = `${house.sections[at].name}, ${$('h1').textContent}`
}

function hover(event) {
  if (event.pointerType !== 'mouse') return // fingers press longer to learn what is there
  if (event.buttons) return hideCard()
  const {x, y} = view.at(event), [idx, at] = name(x, y)
  point(idx, at)
  stage.canvas.classList.toggle('over', at >= 0)
  links.forEach((link, i) => link.classList.toggle('over', i === at && idx < 0))
}

// point rings the seat under the pointer.
function point(idx, section = -1) {
  stage.point?.(section)
  if (idx === pointed) return
  pointed = idx
  soon()
}

// name says on the card what is at a point, and gives the seat and the section there.
function name(x, y, touch) {
  const idx = stage.seatAt(x, y, MOUSE), at = idx >= 0 ? house.section[idx] : stage.sectionAt(x, y), s = house.sections[at]
  if (idx >= 0) tell(idx, x, y, touch)
  else if (s) stage.tell(x, y, s.name, T('%d of %d available', number(freeIn(s.first, s.count)), number(s.count)), touch)
  else hideCard()
  return [idx, at]
}

function tell(idx, x, y, touch) {
  stage.tell(x, y, words(labelOf(house, idx)), describe(idx), touch)
  stage.dispatchEvent(new CustomEvent('seat', {detail: idx}))
}

// nameFocused says the same of the seat that has the focus, once the map rests.
function nameFocused() {
  clearTimeout(naming)
  naming = setTimeout(() => {
    if (focused < 0 || !house.sections[house.section[focused]].pitch) return
    tell(focused, ...stage.place(focused))
  }, REST)
}

const links = frame ? $$('a', stage.drawing) : []
const prices = $$('.prices [data-category] .price > :first-child') // by category, with fees and taxes

const FLAGS = [T(', wheelchair place'), T(', companion place'), T(', restricted view')]

function describe(idx) {
  const {name} = house.categories[house.category[idx]], flags = house.flags[idx]
  const notes = FLAGS.filter((_, bit) => flags >> bit & 1)
  const table = together(house, idx).length
  if (table > 1) notes.push(N(', sold together: %d seat', ', sold together: %d seats', table))
  const {party} = house.rows[house.row[idx]] ?? {}
  if (party) notes.push(T(', %d to %d seats for each party', ...party))
  return [`${name}, ${prices[house.category[idx]].textContent}`, ...notes, word(idx, live.states?.[idx] ?? 0)].join('')
}

function hideCard() {
  clearTimeout(naming)
  stage.hush()
}

function changed({detail: idxs}) {
  painter.touch(idxs)
  if (idxs && !calm.matches && !document.hidden) {
    for (const idx of idxs.slice(0, RINGS - rings.size)) if (house.sections[house.section[idx]].pitch && house.here(house.sections[house.section[idx]])) rings.set(idx, rings.get(idx) ?? performance.now())
  }
  stage.redraw()
}

function held({detail: idxs}) {
  painter.touch(idxs)
  soon()
}

// follow rings the seat that has the focus, and keeps it in view.
function follow(event) {
  const box = event.target.matches?.('#rows input[name=seat]') ? event.target : undefined, before = focused
  focused = box?.matches(':focus-visible') ? Number(box.dataset.idx) : -1
  if (focused >= 0) {
    climb(house.section[focused])
    const [x, y] = stage.place(focused)
    if (x < 30 || y < 30 || x > view.width - 30 || y > view.height - 30) {
      view.fly(view.scale, house.x[focused] - view.width / view.scale / 2, house.y[focused] - view.height / view.scale / 2)
    }
  }
  if (focused !== before) soon()
  if (focused >= 0) nameFocused()
}

function unfollow() {
  if (focused < 0) return
  focused = -1
  hideCard()
  soon()
}

// placed shows seats the server chose.
function placed() {
  const seats = [...hold.seats.keys()].filter(idx => house.sections[house.section[idx]].pitch)
  if (!seats.length) return
  climb(house.section[seats[0]])
  const xs = seats.map(idx => house.x[idx]), ys = seats.map(idx => house.y[idx]), room = house.sections[house.section[seats[0]]].pitch * 6
  view.show({left: Math.min(...xs) - room, right: Math.max(...xs) + room, top: Math.min(...ys) - room, bottom: Math.max(...ys) + room})
}

function listen() {
  const {canvas} = stage
  stage.addEventListener('move', () => { if (focused >= 0) nameFocused() })
  stage.addEventListener('draw', drawRings)
  view.addEventListener('tap', tapped)
  view.addEventListener('press', ({detail: {x, y}}) => point(...name(x, y, true)))
  canvas.addEventListener('pointermove', hover)
  canvas.addEventListener('pointerleave', event => {
    if (event.pointerType !== 'mouse') return
    hideCard()
    point(-1)
  })
  live.addEventListener('change', changed)
  hold.addEventListener('change', held)
  hold.addEventListener('placed', placed)
  filter.addEventListener('change', () => stage.again())
  document.addEventListener('focusin', follow)
  document.addEventListener('focusout', unfollow)
  addEventListener('popstate', ({state}) => { if (state?.floor === undefined || state.section !== frame.dataset.section) location.reload() })
}

export async function start() {
  if (!frame || !data.geometry) return
  house = await stage.load()
  view = stage.view
  stage.hold = hold
  painter = new Painter(stage.canvas, house, hold, live, numberOf, filter)
  listen()
  const at = Number(frame.dataset.section)
  if (at >= 0) view.jump(house.sections[at]) // before the first picture
  stage.show(painter)
  followHouse(house)
  filter.follow(house)
}
