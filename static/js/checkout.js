// The page of a checkout: the time that is left, seats that are lost or changed elsewhere, and what was typed, kept for when
// the page is loaded again. The server writes the page; what changes is taken from a fresh copy of it, around the fields.

import {clock} from 'usher/clock'
import {listen} from 'usher/counts'
import {$, $$, T, countdown, data, key, path, say, span} from 'usher/page'

const EARLY = 2000 // the time shown ends this much before the server's
const PAUSE = 10000 // between two tries to extend
const FREE = 0, HELD = 1 // states of seats
const LEAVE = 2000 // for the way to the order, if this page placed it: else it was placed elsewhere, by a link in an email or in another tab
const dialog = $('#more-time'), form = $('main form'), here = `${path}/checkout`, store = `usher${here}` // of this tab, until the order is there (buy.js)
const length = data.holdLength
let free, asked, tried = 0, turn = 0, latest, line = Promise.resolve() // turn is the last request's, latest what was posted last

const box = () => $('.left'), held = () => box()?.dataset.state === 'held'
const left = () => data.deadline - EARLY - clock.now()

function tick() {
  if (!held()) return dialog.close()
  const ms = left()
  if (ms <= -EARLY) {
    box().dataset.state = 'lapsed'
    dialog.close() // an open dialog keeps the fields from being filled in
    return setTimeout(renew, 1000) // others may have been faster, or were waiting
  }
  countdown(ms)
  $('progress').value = ms / length
  $('[data-left]', dialog).textContent = span(ms)
  if (ms < Math.min(120000, length / 4) && !why() && asked !== data.deadline) {
    asked = data.deadline
    dialog.showModal()
  }
}

// why says why there is no more time; nothing if there is (CheckoutPage.noMore).
const why = () => data.extensions < 1 ? data.spent : free !== 0 ? '' : data.full

function explain() {
  const at = $('.why'), text = held() ? why() : ''
  if (!at) return
  if (at.textContent !== text) at.textContent = text
  $('[name=extend]').hidden = text
}

const seats = () => $('#held').dataset.idx

// told takes what the server says is held: the same seats until another time, or others.
function told({deadline, extensions, idx}) {
  if (`${idx}` !== seats() || deadline > data.deadline && !held()) return renew()
  turn++ // an answer that is still to come is older
  data.deadline = deadline
  data.extensions = extensions
  explain()
  tick()
}

async function extend() {
  const before = data.deadline, failed = $('[role=alert]', dialog)
  const done = failed.hidden = await renew($('[name=extend]'))
  if (done) dialog.close()
  else asked = say(failed.textContent) // undefined: it asks again
  if (data.deadline > before) say(T('Time added.'))
}

// renew puts what the server says now around the fields, after it did what a button asks for. It returns true unless that
// failed. Requests go one after another. Of answers that only show the page, the last one asked for counts; of answers to
// buttons, that of the last press: an earlier one would undo what was chosen since.
async function renew(button) {
  const posts = button?.form && new URLSearchParams(new FormData(form, button)), mine = ++turn
  posts?.set(button.name, key()) // of each press its own
  latest = posts ?? latest
  let began
  const ask = () => {
    began = performance.now()
    return fetch(posts ? form.action : here, posts && {method: 'POST', body: posts})
  }
  const answer = await (line = line.then(ask).catch(error => error))
  if (answer.status === 404) return location.reload()
  if (!answer.ok) return // the socket, which ends too, comes here again
  if (!answer.url.match(here)) return location.replace(answer.url)
  const body = (await answer.text().catch(String)).split('</head>')[1] // the styles of another answer are not for this page
  const page = new DOMParser().parseFromString(body, 'text/html'), fresh = page.body.dataset
  if (!$('#held', page)) return
  clock.measure(+fresh.now, performance.now() - began)
  if (posts ? posts !== latest : mine < turn) return true
  keep()
  const at = mark(document.activeElement)
  for (const part of ['#held', '#paying']) if (!$(part).isEqualNode($(part, page))) $(part).replaceWith($(part, page)) // a button that stays takes the click that began on it
  Object.assign(data, fresh)
  open()
  for (const f of form.elements) if (mark(f) === at) f.focus()
  return true
}

// heard takes a message of the live map.
function heard(m, available) {
  free = available
  explain()
  if (m.type === 'mine') told(m)
  else if (m.changes?.some(([idx, state]) => state > (held() ? HELD : FREE) && seats().split(',').includes(`${idx}`))) setTimeout(renew, held() ? LEAVE : 0)
}

// altered reports whether a field is not as the server wrote it.
const altered = f => f.options ? $('[selected]', f)?.selected === false : f.value !== f.defaultValue || f.checked !== f.defaultChecked

let fields
const marked = f => /checkbox|radio/.test(f.type)
const name = f => f.type === 'radio' ? f.value : f.name
const mark = f => name(f) + f.className // the same in a fresh copy of the page

function keep() {
  sessionStorage.setItem(store, JSON.stringify(Object.fromEntries(fields.map(f => [name(f), marked(f) ? f.checked : f.value]))))
}

// open makes what the server wrote live.
function open() {
  fields = [...form.elements].filter(f => f.matches('.who *, [type=radio]'))
  const kept = JSON.parse(sessionStorage.getItem(store) || '{}')
  for (const f of fields) {
    if (marked(f)) f.checked = kept[name(f)] ?? f.checked
    else f.value = kept[name(f)] || f.value
  }
  explain()
  tick()
}

export function start() {
  // Who types is there: their time is made longer once half of it is over.
  form.oninput = ({target}) => {
    if (target.matches('.bill *')) return renew($('[name=types]'))
    keep()
    if (!held() || left() > length / 2 || why() || clock.now() - tried < PAUSE) return
    tried = clock.now()
    extend()
  }
  form.onsubmit = event => {
    keep()
    if (event.submitter?.name !== 'extend') return
    event.preventDefault()
    extend()
  }
  dialog.onclick = event => {
    if (event.target.matches('[data-more]')) extend()
    else if (event.target.matches('button')) dialog.close()
  }
  open()
  setInterval(tick, 250)
  clock.watch()
  clock.addEventListener('wake', renew)
  addEventListener('pageshow', event => { if (event.persisted) renew() })
  listen(heard, renew)
  if ($$('.bill :is(select, input)').some(altered)) renew($('[name=types]')) // what was chosen before this script was there
  $('[aria-invalid]')?.focus()
}
