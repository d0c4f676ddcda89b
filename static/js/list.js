// The rows as checkboxes: what is ticked is mine. A tick claims, taking it away lets go; arrows walk the seats.

import {filter} from 'usher/filter'
import {words} from 'usher/label'
import {claim, hold, release} from 'usher/hold'
import {live} from 'usher/live'
import {$, $$, data, number, path, say} from 'usher/page'
import {T} from 'usher/text'

const WORDS = [T(', available'), T(', in someone’s basket'), T(', sold'), T(', not for sale')] // as the server says them (stateWords)
const YOURS = T(', yours'), GHOST = T(', your hold expired, still available'), RESERVED = T(', reserved, needs a code')
const NAMES = ['free', 'held', 'sold', 'blocked']

let boxes = new Map() // idx → checkbox

// word says how a seat stands, with a comma before it.
export const word = (idx, state) => hold.has(idx) ? YOURS : hold.ghost(idx) ? GHOST : state > 2 && data.reserved?.includes(` ${idx} `) ? RESERVED : WORDS[state]

function gather() {
  boxes = new Map($$('#rows input[name=seat]').map(box => [Number(box.dataset.idx), box]))
  const first = [...boxes.values()].find(box => !box.disabled)
  for (const box of boxes.values()) box.tabIndex = box === first ? 0 : -1
}

function paint(idx, box) {
  const mine = hold.has(idx), state = live.states ? live.states[idx] : Math.max(0, NAMES.indexOf(box.dataset.state))
  const ghost = hold.ghost(idx) && !mine
  const closed = state !== 0 && !mine && !hold.settling(idx) && !hold.seats.has(idx)
  box.checked = mine
  box.classList.toggle('settling', hold.settling(idx))
  const fits = filter.fits(idx)
  if (fits !== undefined) box.parentNode.classList.toggle('off', !fits)
  box.dataset.state = ghost ? 'lapsed' : NAMES[state]
  const plain = [YOURS, GHOST, RESERVED, ...WORDS].reduce((name, end) => name.replace(end, ''), box.ariaLabel)
  box.ariaLabel = plain + (mine || ghost || closed ? word(idx, state) : '')
  if (closed && box === document.activeElement) { // a disabled box would lose the focus and the way back
    if (!box.ariaDisabled && $('#message').hidden) say(T('%s was just taken.', words(box.value)))
    box.ariaDisabled = 'true'
    return
  }
  box.ariaDisabled = null
  box.disabled = closed
}

function repaint(idxs) {
  if (!idxs) return boxes.forEach((box, idx) => paint(idx, box))
  for (const idx of idxs) if (boxes.has(idx)) paint(idx, boxes.get(idx))
}

function count() {
  if (!live.states) return
  let total = 0, held = 0
  const categories = $$('[data-category]')
  live.counts.forEach((c, i) => {
    total += c.free
    held += c.held
    if (categories[i]) write(categories[i], c.free)
  })
  for (const at of $$('[data-free-total]')) at.textContent = number(total)
  for (const at of $$('[data-gone]')) {
    at.hidden = total
    $('[data-may]', at).hidden = !held
    write(at, held)
  }
  $('#tray')?.toggleAttribute('data-none', !total)
  for (const at of $$('[data-first]')) write(at, freeIn(Number(at.dataset.first), Number(at.dataset.seats)))
  const query = filter.query()
  for (const link of links) {
    const s = sections[sectionOf(link)]
    if (!s) continue
    const free = filter.free(s)
    write(link, free)
    link.classList.toggle('off', free === 0 && filter.on())
    link.search = query
  }
  drawn.forEach((link, at) => {
    const s = sections[at]
    if (s) fill(link, filter.free(s) / s.count)
  })
  filter.count()
}

// fill shows how much of a section is free.
function fill(link, part) {
  const now = part === 0 ? 'none' : part < .25 ? 'few' : part < .75 ? 'some' : ''
  for (const name of ['none', 'few', 'some']) link.classList.toggle(name, name === now)
}

export function freeIn(first, count) {
  let free = 0
  for (let idx = first; idx < first + count; idx++) if (live.states?.[idx] === 0) free++
  return free
}

const drawn = $$('#map > svg a'), links = $$('.sections a'), sectionOf = link => Number(link.pathname.split('/').at(-1))
let sections = [] // with first and count, set with the drawing

function write(at, n) {
  const to = $('[data-free]', at), text = number(n)
  if (to && to.textContent !== text) to.textContent = text
}

let counting
function countSoon() {
  counting ??= setTimeout(() => {
    counting = undefined
    count()
  }, 200)
}

// toggle does what a tick does, for taps on the map.
export function toggle(idx, label) {
  if (hold.settling(idx)) return
  if (hold.has(idx)) release(idx)
  else claim(idx, label) // a seat that is taken is refused in words
}

document.addEventListener('change', event => {
  const box = event.target
  if (!box.matches?.('#rows input[name=seat]')) return
  const idx = Number(box.dataset.idx)
  if (hold.settling(idx)) box.checked = hold.has(idx)
  else if (box.checked) claim(idx, box.value)
  else release(idx)
})

// A box of a taken seat is disabled, and may have become so while it was clicked: the click is its label's.
document.addEventListener('click', event => {
  const label = event.target.closest('#rows label'), box = label && $('input:disabled', label)
  if (box) toggle(Number(box.dataset.idx), box.value)
})

const STEPS = {ArrowLeft: -1, ArrowRight: 1}

document.addEventListener('keydown', event => {
  const box = event.target
  if (!box.matches?.('#rows input[name=seat]')) return
  const to = neighbour(box, event.key)
  if (to === undefined) return
  event.preventDefault()
  if (to) focus(box, to)
})

function focus(from, to) {
  from.tabIndex = -1
  to.tabIndex = 0
  to.focus()
}

const open = row => $$('input[name=seat]', row).filter(box => !box.disabled)

// neighbour is where a key leads from a seat: undefined if it leads nowhere by itself, null if there is nothing there.
function neighbour(box, key) {
  const row = box.closest('fieldset'), seats = open(row), at = seats.indexOf(box)
  if (key in STEPS) return seats[at + STEPS[key]] ?? null
  if (key === 'Home') return seats[0]
  if (key === 'End') return seats.at(-1)
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined
  const side = key === 'ArrowUp' ? 'previousElementSibling' : 'nextElementSibling'
  let next = row[side]
  while (next && (!next.matches('fieldset') || open(next).length === 0)) next = next[side]
  return next ? nearest(box, open(next)) : null
}

let place = box => box.getBoundingClientRect().left

// follow lets the drawing say where seats are, so that up and down follow the house and not the list, and which seats
// a section has.
export function follow(house) {
  place = box => house.x[Number(box.dataset.idx)]
  sections = house.sections
  countSoon()
}

function nearest(box, seats) {
  const x = place(box)
  return seats.reduce((best, b) => Math.abs(place(b) - x) < Math.abs(place(best) - x) ? b : best)
}

document.addEventListener('focusin', event => {
  if (event.target.matches?.('#rows input[name=seat]')) {
    $('#rows input[name=seat][tabindex="0"]')?.setAttribute('tabindex', '-1')
    event.target.tabIndex = 0
  }
})

document.addEventListener('focusout', event => {
  const box = event.target
  if (box.ariaDisabled) requestAnimationFrame(() => paint(Number(box.dataset.idx), box))
})

// openSection puts the rows of another section onto the page, if it is still wanted then.
export async function openSection(section, wanted) {
  const answer = await fetch(`${path}/sections/${section}${filter.query()}`, {headers: {'Usher-Fragment': '1'}})
  if (answer.redirected) return location.assign(answer.url) // to a waiting room, which has opened meanwhile
  if (!answer.ok) throw answer
  const fresh = document.createElement('template')
  fresh.innerHTML = await answer.text()
  if (!wanted()) return
  $('#rows').replaceWith(fresh.content)
  for (const link of links) {
    link.ariaCurrent = sectionOf(link) === section ? 'page' : null
  }
  gather()
  repaint(null)
  count()
}

export function start() {
  gather()
  live.addEventListener('change', event => {
    repaint(event.detail)
    countSoon()
  })
  hold.addEventListener('change', event => repaint(event.detail))
  filter.addEventListener('change', () => {
    repaint(null)
    count()
  })
  repaint(null)
}
