// What this attendee holds: claims and releases one after another, the tray, and the time that runs.

import {clock} from 'usher/clock'
import {words} from 'usher/label'
import {live} from 'usher/live'
import {$, $$, countdown, data, key, path, price, say, span} from 'usher/page'
import {N, T} from 'usher/text'

const EARLY = 2000 // the time shown ends this much before the server's
const TICK = 250, SOON = 250

// hold sends "change" with detail = idx of seats that became or stopped being mine.
class Hold extends EventTarget {
  seats = new Map() // idx → label, as the server said
  asked = new Map() // idx → true (claiming) or false (letting go), not answered yet
  deadline = 0
  length = Number(data.holdLength)
  lapsed = false

  // has reports whether a seat is mine; ghost whether it was until my hold expired, and is still available.
  ghost(idx) { return this.lapsed && this.seats.has(idx) }
  has(idx) { return this.asked.get(idx) ?? (!this.lapsed && this.seats.has(idx)) }
  settling(idx) { return this.asked.has(idx) }
  changed(idx) { this.dispatchEvent(new CustomEvent('change', {detail: idx})) }

  // take puts the server's answer in place of what was known.
  take(answer) {
    const was = [...this.seats.keys()], fresh = answer?.idx ?? []
    this.seats = new Map(fresh.map((idx, i) => [idx, answer.seats[i]]))
    this.lapsed = !!answer?.lapsed
    this.deadline = answer ? Date.parse(answer.expires_at) : 0
    this.extensions = answer?.extensions_left
    this.total = answer?.total
    this.parts = answer?.parts ?? []
    this.lines = answer?.lines
    this.changed([...was, ...fresh])
  }
}

export const hold = new Hold()

const others = new BroadcastChannel(`usher ${data.slug}`)
others.onmessage = event => hold.take(event.data)

let line = Promise.resolve()

// ask sends one request after the ones before it, with the fields of a form. What got no answer is sent again with its key,
// which is safe.
function ask(method, what, fields) {
  const once = key()
  const send = async tries => {
    try {
      const answer = await fetch(`${path}/${what}`, {
        method, body: fields && new URLSearchParams(fields), headers: {Accept: 'application/json', 'Idempotency-Key': once},
      })
      if (answer.status !== 428 || !tries || !crypto.subtle) return answer
      await (await import('usher/work')).pass(path)
      return send(0)
    } catch (err) {
      if (tries === 0) throw err
      await new Promise(done => setTimeout(done, 800))
      return send(tries - 1)
    }
  }
  return line = line.catch(() => {}).then(() => send(3))
}

let settled = Promise.resolve()

// settle reads an answer: the hold as it is now, or a message. True if what was asked was done.
const settle = request => settled = read(request)

async function read(request) {
  const answer = await request.catch(() => ({})), body = await answer.json?.().catch(() => 0) // 204 has none
  if (answer.ok) {
    hold.take(body.hold)
    others.postMessage(body.hold)
    return true
  }
  if (body?.error?.code === 'no_hold') hold.take(undefined)
  else if (hold.lapsed) refresh()
  show(body?.error ?? {message: T('That didn’t work. Try again.')})
}

// show puts an error into the message box, with the seats to take instead as buttons.
function show(error) {
  const box = $('#message')
  $('p', box).textContent = error.message
  $('.nearest', box).replaceChildren(...(error.nearest ?? []).map(label => Object.assign(document.createElement('button'), {name: 'seat', value: label, textContent: T('Choose %s instead', words(label))})))
  if (error.to) { // to the waiting room, or to the work that this browser could not do
    $('.nearest', box).append(Object.assign(document.createElement('a'), {href: error.to, className: 'primary', textContent: T('Continue')}))
  }
  box.hidden = false
  box.scrollIntoView({block: 'nearest'})
  say(error.message, false)
}

function hide() { $('#message').hidden = true }

$('#message').addEventListener('click', event => { if (event.target.closest('[data-dismiss]')) hide() })

async function pending(idxs, state, request) {
  for (const idx of idxs) hold.asked.set(idx, state)
  hold.changed(idxs)
  const done = await settle(request)
  for (const idx of idxs) hold.asked.delete(idx)
  hold.changed(idxs)
  return done
}

export async function claim(idx, label) {
  hide()
  const before = hold.lapsed ? 0 : hold.seats.size
  if (!await pending([idx], true, ask('POST', 'claims', {seat: label, type: data.type}))) return
  const more = hold.seats.size - before // all of a table that is sold as a whole
  say(more > 1 ? N('%d seat held for you.', '%d seats held for you.', more) : T('%s is yours.', words(label)))
}

export async function release(idx) {
  const label = hold.seats.get(idx), before = hold.seats.size
  if (!await pending([idx], false, ask('DELETE', `claims/${idx}`)) || !label) return
  const less = before - hold.seats.size
  say(less > 1 ? N('%d seat is removed.', '%d seats are removed.', less) : T('%s is removed.', words(label)))
}

async function wish(fields, idxs = []) {
  hide()
  const before = hold.lapsed ? 0 : hold.seats.size
  if (!await pending(idxs, true, ask('POST', 'claims', fields))) return
  say(N('%d seat held for you.', '%d seats held for you.', hold.seats.size - before || hold.seats.size))
  hold.dispatchEvent(new Event('placed'))
}

async function releaseAll() {
  if (await pending([...hold.seats.keys()], false, ask('DELETE', 'claims'))) say(T('All seats are removed.'))
}

// post changes what is held.
export const post = (what, fields) => settle(ask('POST', `hold/${what}`, fields))

export async function extend() {
  if (await post('extension')) say(T('You have more time: %s.', span(left())))
}

const left = () => hold.deadline - EARLY - clock.now()

// Forms ask the same as without scripts, only without leaving the page.
document.addEventListener('submit', event => {
  const form = event.target, by = event.submitter
  if (!form.matches('[data-claim], [data-release], [data-extend], [data-again], form.rows')) return
  event.preventDefault()
  const f = new FormData(form, by)
  if (form.matches('[data-extend]')) extend()
  else if (form.matches('[data-release]')) by?.name === 'seat' ? release(+by.value) : releaseAll()
  else if (form.matches('[data-again]')) wish([...hold.seats.values()].map(label => ['seat', label]), [...hold.seats.keys()])
  else wish(f)
})

const tray = $('#tray'), chips = $('.chips', tray), blank = $('template', tray)

function chip(idx, label) {
  const li = blank.content.firstElementChild.cloneNode(true)
  Object.assign(li.dataset, {seat: label, idx})
  $('.name', li).textContent = words(label)
  Object.assign($('button', li), {value: idx, ariaLabel: T('Remove %s', words(label))})
  return li
}

function draw() {
  const there = new Map($$('li', chips).map(li => [+li.dataset.idx, li]))
  for (const [idx, label] of hold.seats) {
    const li = there.get(idx) ?? chips.appendChild(chip(idx, label))
    there.delete(idx)
    for (const l of hold.lines ?? []) if (l.idx === idx) $('.price', li).textContent = price(l.price) // the page came with those of its hold
    li.classList.toggle('settling', hold.settling(idx))
  }
  for (const li of there.values()) remove(li)
  tray.dataset.state = hold.seats.size === 0 ? 'empty' : hold.lapsed ? 'lapsed' : 'held'
  $('[data-count]', tray).textContent = N('%d seat', '%d seats', hold.seats.size)
  $('[data-total]', tray).textContent = price(hold.total)
  const box = $('details', tray)
  if (box && hold.parts) { // what the total consists of; the page came with that of its own hold
    box.hidden = !hold.parts.length
    $('div', box).innerText = hold.parts.map(p => `${p.label}: ${p.text}`).join('\n')
  }
  $('[data-extend]', tray).hidden = !hold.extensions
  showTime()
}

// remove keeps the focus in the tray when the button that had it goes.
function remove(li) {
  const next = li.contains(document.activeElement) && $('button', li.nextElementSibling ?? li.previousElementSibling ?? tray)
  li.remove()
  if (next) next.focus()
}

let height
// measure tells how high the tray is to what must not be under it.
function measure() {
  if (height === (height = tray.offsetHeight)) return
  for (const at of [document.documentElement, tray, $('#status')]) at.style.setProperty('--tray', `${height}px`)
}

const dialog = $('#more-time')
let askedFor = 0 // the deadline the question was asked for
let announced = Infinity

let next

// showTime looks again when a second of the time that is left is over, and now and then for what else may have changed.
function showTime() {
  const ms = left()
  countdown(ms)
  $('progress', tray).value = ms / hold.length
  $('[data-left]', dialog).textContent = span(ms)
  clearTimeout(next)
  next = setTimeout(tick, Math.min(TICK, ms > 0 ? ms % 1000 + 1 : TICK))
  return ms
}

function tick() {
  if (hold.lapsed || !hold.seats.size) return dialog.close()
  if (clock.now() > hold.deadline) return lapse()
  const ms = showTime(), warning = Math.min(120000, hold.length / 4)
  tray.classList.toggle('low', ms < warning)
  if (ms < warning && ms > 0 && hold.extensions && askedFor !== hold.deadline) {
    askedFor = hold.deadline
    dialog.showModal()
  }
  announce(ms)
}

// announce tells the time at 5, 2 and 1 minutes and at 30 seconds, once each.
function announce(ms) {
  const mark = [30000, 60000, 120000, 300000].find(at => ms <= at) ?? Infinity
  if (mark < announced && hold.length > mark * 1.2 && ms > mark - 5000) say(T('Your seats are held for %s more.', span(ms)))
  announced = mark
}

function lapse() {
  hold.lapsed = true
  dialog.close()
  hold.changed([...hold.seats.keys()])
  say(T('Your hold expired.'), false) // the tray says it
}

dialog.addEventListener('click', event => {
  if (event.target.closest('[data-more]')) extend()
  if (event.target.closest('[data-more], [data-close]')) dialog.close()
})

// refresh asks again what is held, when the page was away or lapsed seats were taken.
const refresh = always => settled = renew(always)

let renewing = 0 // answers to come, each of which may be older than what the map said meanwhile

async function renew(always) {
  if (!hold.seats.size && always !== true) return
  const before = new Map(hold.seats), lapsed = hold.lapsed, began = performance.now()
  renewing++
  try {
    const answer = await ask('GET', 'hold').catch(() => undefined)
    if (answer?.ok) {
      const now = (await answer.json()).hold
      if (!live.states) clock.measure(Date.parse(now.now), performance.now() - began) // no socket tells the time
      hold.take(now)
    } else if (answer?.status === 404) hold.take(undefined)
  } finally { renewing-- }
  const gone = [...before].filter(([idx]) => !hold.seats.has(idx)).map(([, label]) => T('%s was just taken.', words(label)))
  if (lapsed && gone.length) say(gone.join(' '))
}

// stray reports whether something became of seats of mine that this page did not ask for.
function stray(idxs) {
  return [...hold.seats.keys()].some(idx => live.states?.[idx] !== (hold.lapsed ? 0 : 1) && idxs?.includes(idx) !== false && !hold.settling(idx))
}

let looking, word // what the server said last that I hold, until it is looked into

// look compares what this page knows with what it was told, once the answers to its own requests had time to come, and
// asks if that differs; the map alone does not say by whom a seat was taken, for it may have been me, elsewhere.
function look() {
  looking ??= setTimeout(async () => {
    looking = undefined
    for (let last; last !== settled;) await (last = settled) // an answer that comes later may be older than the word
    const told = word
    word = undefined
    if (!(told && differs(told)) && !stray()) return
    if (told?.deadline === 0 && [...hold.seats.keys()].every(idx => live.states?.[idx] !== 1)) hold.take(undefined)
    else refresh(true)
  }, SOON)
}

function differs({deadline, extensions, idx}) {
  if (!idx.length || !hold.seats.size) return idx.length || hold.seats.size
  return deadline !== hold.deadline || extensions !== hold.extensions || `${idx}` !== `${[...hold.seats.keys()].sort((a, b) => a - b)}`
}

export function start() {
  const d = tray.dataset
  if (d.deadline) {
    clock.measure(+d.now, 5000)
    const all = $$('li', chips)
    hold.seats = new Map(all.map(li => [+li.dataset.idx, li.dataset.seat]))
    Object.assign(hold, {deadline: +d.deadline, extensions: +d.extensions, lapsed: d.state === 'lapsed', total: +d.total})
  }
  new ResizeObserver(measure).observe(tray)
  hold.addEventListener('change', draw)
  live.addEventListener('change', event => { if (renewing || stray(event.detail)) look() })
  live.addEventListener('mine', event => {
    word = event.detail
    look()
  })
  clock.watch()
  clock.addEventListener('wake', refresh)
  addEventListener('online', refresh)
  addEventListener('pageshow', event => { if (event.persisted) refresh() })
  document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh() })
  hold.changed([])
}
