// The map: the server's drawing of the sections below, every seat on a canvas above. It is a second picture of the
// rows; whatever is tapped here goes the way of the checkboxes.

import {filter} from 'usher/filter'
import {inside, labelOf, numberOf, unpack, wordsOf} from 'usher/geometry'
import {hold, tellPrices} from 'usher/hold'
import {follow as followHouse, openSection, toggle} from 'usher/list'
import {live} from 'usher/live'
import {$, $$, calm, data, path, price} from 'usher/page'
import {Painter} from 'usher/paint'
import {Titles} from 'usher/title'
import {View, buttons} from 'usher/view'

const TOUCH = 24, MOUSE = 11 // the least distance between seats, in px, at which one can be picked
const RING = 700, RINGS = 80 // ms a changed seat is ringed, and how many at once
const STILL = 120 // ms without a move after which the view rests
const STATES = ['free', 'held, may come back', 'sold', 'not for sale']

const frame = $('#map'), canvas = frame && $('canvas', frame), drawing = frame && $('svg', frame), card = frame && $('.card', frame)
let house, view, painter, titles, due, waiting, naming, focused = -1, since = -Infinity // when the view moved last
const rings = new Map() // idx → since when

function redraw() { due ??= requestAnimationFrame(draw) }

// again draws all seats anew.
function again() {
  painter.touch()
  redraw()
}

// soon redraws after the page has shown what was done: answering a tap comes before its picture.
function soon() {
  waiting ??= requestAnimationFrame(() => setTimeout(() => {
    waiting = undefined
    redraw()
  }))
}

function draw(now) {
  due = undefined
  if (document.hidden) return
  const owed = painter.draw(view, view.width, view.height, view.ratio, now - since < STILL)
  for (const [idx, start] of rings) {
    const t = (now - start) / RING
    if (t >= 1) rings.delete(idx)
    else painter.ring(idx, view, 6 * Math.max(0, t), 1 - Math.max(0, t))
  }
  if (focused >= 0) painter.ring(focused, view, 0, 1)
  if (rings.size || owed) redraw()
}

// moved keeps the drawing of the sections under the seats.
function moved() {
  drawing.setAttribute('viewBox', [view.x, view.y, view.width / view.scale, view.height / view.scale].join(' '))
  titles.show(view)
  canvas.classList.toggle('whole', view.whole)
  hideCard()
  if (focused >= 0) nameFocused()
  since = performance.now()
  again()
}

function sectionAt(x, y) { return house.sections.findIndex(s => inside(s.outline, x, y)) }

// seatAt is the seat at a point in px, -1 if there is none or seats are too small to pick.
function seatAt(px, py, least) {
  const [x, y] = view.plan(px, py)
  let found = -1, near = Infinity
  for (const s of house.sections) {
    if (s.pitch * view.scale < least || x < s.left - s.pitch || x > s.right + s.pitch || y < s.top - s.pitch || y > s.bottom + s.pitch) continue
    for (let idx = s.first; idx < s.first + s.count; idx++) {
      const d = Math.hypot(house.x[idx] - x, house.y[idx] - y)
      if (d < near && d < s.pitch * .6) [found, near] = [idx, d]
    }
  }
  return found
}

function tapped({detail: {x, y, touch}}) {
  hideCard()
  const idx = seatAt(x, y, touch ? TOUCH : MOUSE)
  if (idx >= 0) return toggle(idx, labelOf(house, idx))
  const at = sectionAt(...view.plan(x, y))
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

// enter opens the rows of a section beside the map, at their own address.
async function enter(at, push = true) {
  frame.dataset.section = at
  try {
    await openSection(at)
  } catch {
    location.href = `${path}/sections/${at}${filter.query()}`
    return
  }
  if (push) history.pushState({section: at}, '', `${path}/sections/${at}${filter.query()}`)
  document.title = `${house.sections[at].name}, ${$('h1').textContent}`
}

function whole() {
  view.fly(...view.all)
}

function hover(event) {
  if (event.pointerType !== 'mouse') return // fingers press longer to learn what is there
  if (event.buttons) return hideCard()
  const r = canvas.getBoundingClientRect(), [idx, at] = name(event.clientX - r.left, event.clientY - r.top)
  canvas.classList.toggle('over', at >= 0)
  links.forEach((link, i) => link.classList.toggle('over', i === at && idx < 0))
}

// name says on the card what is at a point, and gives the seat and the section there.
function name(x, y, touch) {
  const idx = seatAt(x, y, MOUSE), at = idx >= 0 ? house.section[idx] : sectionAt(...view.plan(x, y)), s = house.sections[at]
  if (idx >= 0) showCard(x, y, wordsOf(house, idx), describe(idx), touch)
  else if (s) showCard(x, y, s.name, `${freeIn(s)} of ${s.count} free`, touch)
  else hideCard()
  return [idx, at]
}

// nameFocused says the same of the seat that has the focus, once the map rests.
function nameFocused() {
  clearTimeout(naming)
  naming = setTimeout(() => {
    if (focused < 0 || !house.sections[house.section[focused]].pitch) return
    showCard((house.x[focused] - view.x) * view.scale, (house.y[focused] - view.y) * view.scale, wordsOf(house, focused), describe(focused))
  }, STILL)
}

const links = frame ? $$('a', drawing) : []

function describe(idx) {
  const cost = house.categories[house.category[idx]], flags = house.flags[idx]
  const notes = [flags & 1 && 'wheelchair place', flags & 2 && 'companion place', flags & 4 && 'restricted view'].filter(Boolean)
  const state = hold.has(idx) ? 'yours' : hold.ghost(idx) ? 'your time ran out, still free' : STATES[live.states?.[idx] ?? 0]
  return [`${cost.name}, ${price(cost.price)}`, ...notes, state].join(' · ')
}

function freeIn({first, count}) {
  let n = 0
  for (let idx = first; idx < first + count; idx++) if (live.states?.[idx] === 0) n++
  return n
}

function showCard(x, y, title, text, above) {
  const b = document.createElement('b'), span = document.createElement('span')
  b.textContent = title
  span.textContent = text
  card.replaceChildren(b, span)
  card.hidden = false
  const left = Math.min(x + 16, view.width - card.offsetWidth - 8)
  const top = above || y + 20 + card.offsetHeight > view.height ? y - card.offsetHeight - (above ? 32 : 12) : y + 20
  card.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`
}

function hideCard() {
  clearTimeout(naming)
  card.hidden = true
}

function changed({detail: idxs}) {
  painter.touch(idxs)
  if (idxs && !calm.matches && !document.hidden) {
    for (const idx of idxs.slice(0, RINGS - rings.size)) if (house.sections[house.section[idx]].pitch) rings.set(idx, rings.get(idx) ?? performance.now())
  }
  redraw()
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
    const x = (house.x[focused] - view.x) * view.scale, y = (house.y[focused] - view.y) * view.scale
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
  const xs = seats.map(idx => house.x[idx]), ys = seats.map(idx => house.y[idx]), room = house.sections[house.section[seats[0]]].pitch * 6
  view.show({left: Math.min(...xs) - room, right: Math.max(...xs) + room, top: Math.min(...ys) - room, bottom: Math.max(...ys) + room})
}

function listen() {
  view.addEventListener('move', moved)
  view.addEventListener('tap', tapped)
  view.addEventListener('press', ({detail: {x, y}}) => name(x, y, true))
  canvas.addEventListener('pointermove', hover)
  canvas.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse') hideCard() })
  live.addEventListener('change', changed)
  hold.addEventListener('change', held)
  hold.addEventListener('placed', placed)
  filter.addEventListener('change', again)
  document.addEventListener('focusin', follow)
  document.addEventListener('focusout', unfollow)
  document.addEventListener('keydown', event => { if (event.key === 'Escape') hideCard() })
  document.addEventListener('visibilitychange', redraw)
  addEventListener('popstate', () => location.reload())
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change', () => { painter.recolour(); redraw() })
  }
}

export async function start() {
  if (!frame || !data.geometry) return
  const answer = await fetch(data.geometry)
  if (!answer.ok) throw new Error(`the drawing: status ${answer.status}`)
  house = unpack(await answer.json())
  const [x, y, w, h] = drawing.getAttribute('viewBox').split(' ').map(Number)
  view = new View(frame, canvas, {x, y, w, h})
  const closest = Math.min(...house.sections.map(s => s.pitch).filter(Boolean))
  view.most = Math.max(56 / closest, view.least * 2)
  titles = new Titles(drawing, house)
  painter = new Painter(canvas, house, hold, live, numberOf, filter.fits)
  listen()
  buttons(view, whole)
  followHouse(house)
  filter.follow(house)
  tellPrices(idx => house.categories[house.category[idx]].price)
  const at = Number(frame.dataset.section)
  if (at >= 0) view.jump(house.sections[at])
  moved()
  document.fonts?.ready.then(again)
  frame.classList.add('live')
  requestAnimationFrame(() => { canvas.dataset.ready = '1' })
}
