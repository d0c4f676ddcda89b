// The filter: seats of some prices, places for wheelchairs, or both. Other seats are dimmed, never
// hidden. The legend's links do the same without scripts.

import {live} from 'usher/live'
import {$, $$, data, floored, number, say} from 'usher/page'
import {N, T} from 'usher/text'

const ACCESSIBLE = 1 // of a seat's flags

const links = $$('.prices li a')
const key = link => link.parentNode.dataset.category // none for places for wheelchairs
let house // set with the drawing
let prices = new Set(), accessible = false // the same as the links say

// filter sends "change" when something else is looked for.
export const filter = new EventTarget()

// fits reports whether a seat passes the filter; undefined until the drawing is there.
filter.fits = idx => house && (!prices.size || prices.has(house.category[idx])) && (!accessible || (house.flags[idx] & ACCESSIBLE) > 0)

// query is what is looked for as it stands in addresses.
filter.query = () => {
  const q = new URLSearchParams(data.type && {type: data.type})
  for (const link of links) if (link.ariaCurrent) key(link) === undefined ? q.set('accessible', 1) : q.append('price', key(link))
  return q.size ? `?${q}` : ''
}

function read() {
  const picked = links.filter(link => link.ariaCurrent)
  prices = new Set(picked.filter(key).map(link => house.categories.findIndex(c => c.key === key(link))))
  accessible = picked.some(link => !key(link))
}

filter.on = () => accessible || prices.size > 0

// count says how many free seats fit.
filter.count = () => {
  if (!house || !live.states) return
  let fit = 0, wheels = 0
  for (let idx = 0; idx < live.states.length; idx++) {
    if (live.states[idx] !== 0) continue
    if (filter.fits(idx)) fit++
    if (house.flags[idx] & ACCESSIBLE) wheels++
  }
  const at = $('[data-accessible] [data-free]')
  if (at) at.textContent = number(wheels)
  const section = house.sections[$('#rows').dataset.section]
  found = tell('.prices ul', 'data-found', fit ? N('%d seat matches.', '%d seats match.', fit) : T('No seats match.'))
  if (!section || section.area) return
  const here = filter.free(section)
  tell('#rows .facts', 'data-fits', here ? N('%d seat here matches.', '%d seats here match.', here) : T('No seats here match.'))
}

let found // how many seats fit, as a sentence

// tell writes a sentence behind something on the page, where there is none yet.
function tell(behind, kind, text) {
  let at = $(`[${kind}]`)
  if (!at && filter.on()) {
    $(behind).insertAdjacentHTML('afterend', `<p class="found"><span ${kind}></span> <a href="?">${T('Show all seats')}</a></p>`)
    at = $(`[${kind}]`)
  }
  if (at && at.textContent !== text) at.textContent = text
  if (at) at.parentNode.hidden = !filter.on()
  return text
}

// free counts the free seats of a section that fit.
filter.free = ({first, count}) => {
  let free = 0
  for (let idx = first; idx < first + count; idx++) if (live.states?.[idx] === 0 && filter.fits(idx)) free++
  return free
}

function picked(event) {
  const link = event.target.closest('.prices a, .found a')
  if (!link || !house || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  if (links.includes(link)) link.ariaCurrent = link.ariaCurrent ? null : 'true'
  else for (const each of links) each.ariaCurrent = null // all seats
  look()
  history.replaceState(history.state, '', location.pathname + floored(filter.query()))
  say(filter.on() ? found : T('All seats are shown.'), false)
  if (!links.includes(link)) links[0].focus()
}

function look() {
  read()
  const choice = $('.best [name=category]')
  if (choice && prices.size === 1) choice.value = house.categories[[...prices][0]].key
  filter.count()
  filter.dispatchEvent(new Event('change'))
}

// follow lets the drawing say what each seat costs, and what is special about it.
filter.follow = drawing => {
  house = drawing
  if (filter.query()) look()
}

if (links.length) document.addEventListener('click', picked)
