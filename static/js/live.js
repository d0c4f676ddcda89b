// The live map: the state of every seat as the server last said.
//
// A snapshot comes over HTTP, changes over a socket. Whatever goes wrong, the page takes the snapshot again; where no
// socket opens it asks every three seconds. Now and then the server says what the map comes to: if ours is another, it
// is replaced and the server counts that.

import {LATE, clock} from 'usher/clock'
import {decode, ping, wanted, checksum, HELLO, SNAP, DELTA, AUDIT, PONG, MOVE, MINE, FORMAT, GAP, DIVERGED, WireError} from 'usher/wire'
import {$, data, path, say, span} from 'usher/page'
import {T} from 'usher/text'

const POLL = 3000, BEAT = 20000, PATIENCE = 8000, ANEW = 60000, CACHED = 1000 // ms that caches may keep a map

// see is a state as this visitor sees it: what is reserved for a code of theirs comes as not for sale, and is available.
const see = (state, idx) => state > 2 && data.unlocked?.includes(` ${idx} `) ? 0 : state

// live is what is known. It sends the event "change" with detail = idx of changed seats, or null for all; "mine" with what
// another page of this person was told to hold. other is called
// with messages that few pages need, of which told is the last.
class Live extends EventTarget {
  states = null
  counts = []
  epoch = 0
  version = -1

  replace({epoch, version, states, counts}) {
    if (epoch === this.epoch && version < this.version) return
    if (this.states?.length - states.length) anew() // seats were added
    Object.assign(this, {epoch, version, states: states.map(see), counts})
    this.#changed(null)
  }

  // apply takes a delta; false if the page missed what came before it.
  apply({epoch, from, to, counts, idx, state}) {
    if (!this.states || epoch !== this.epoch || this.version < from) return false
    if (to <= this.version) return true
    if (idx.length && idx.at(-1) >= this.states.length) return false
    idx.forEach((at, i) => { this.states[at] = see(state[i], at) })
    this.version = to
    this.counts = counts
    this.#changed(idx)
    return true
  }

  // differs is what the map comes to, if a checksum of the same version is another; else 0. It is that of a visitor without a code.
  differs({epoch, version, sum}) {
    if (data.unlocked || !this.states || epoch !== this.epoch || version !== this.version) return 0
    const ours = checksum(this)
    return ours === sum ? 0 : ours
  }
  #changed(idx) { this.dispatchEvent(new CustomEvent('change', {detail: idx})) }
}

export const live = new Live()

const KEPT = 'usher paused' // in this tab
let paused = sessionStorage.getItem(KEPT) !== null
let socket, greeted = false, failures = 0, retry, poller, beat, silence, within

const WORDS = {
  looking: T('Updating… Seats may be out of date.'), paused: T('Paused. Seats may be out of date.'),
  reconnecting: T('Reconnecting. Last update %s ago. Seats may be out of date.', '%s'),
}

function show(state) {
  if (data.live !== state) data.live = state
  tellAge()
}

let current = performance.now() // when the map was last known to be current
let doubted // since when the page may be behind, until an answer shows that it is not

let said = false // that the map is old

// tellAge says how old the map is while no changes arrive, and once so that it is read out.
function tellAge() {
  const state = data.live, old = performance.now() - current, away = state === 'reconnecting'
  const text = T(WORDS[state] ?? '', span(old))
  const at = $('#map .stale')
  if (at && at.textContent !== text) at.textContent = text
  if (said && state === 'live') say(T('Updates are live.'), said = false)
  if (!away || old < LATE || said) return
  said = true
  say(text, !at)
}

// doubt says that the page may be behind, after it was away, until an answer came.
function doubt() {
  if (data.live !== 'live' && data.live !== 'polling') return
  doubted = performance.now()
  show('looking')
}

function showLive() {
  current = performance.now()
  if (paused) return show('paused')
  if (!greeted || !live.states || doubted !== undefined) return
  failures = 0
  stopPolling()
  show('live')
}

// resync fetches the whole map. It throws without an answer.
export async function resync() {
  const began = performance.now()
  const answer = await fetch(`${path}/map.bin?format=${FORMAT}`, {cache: 'no-cache', signal: AbortSignal.timeout(PATIENCE)})
  if (answer.status === 426) anew()
  if (!answer.ok) throw answer
  const map = decode(await answer.arrayBuffer())
  const now = Number(answer.headers.get('Usher-Now'))
  if (now && live.version < 0) clock.measure(now, performance.now() - began + CACHED)
  if (!greeted || map.epoch === live.epoch) live.replace(map) // while a socket is open, only that brings another epoch
  showLive()
}

// anew loads the page of a program that speaks another format, but not in a circle.
function anew() {
  const last = 'usher loaded anew'
  if (Date.now() - sessionStorage.getItem(last) < ANEW) return
  sessionStorage.setItem(last, Date.now())
  location.reload()
}

function stopPolling() {
  clearInterval(poller)
  poller = undefined
}

async function poll() {
  try {
    await resync()
    if (poller) show('polling')
  } catch {
    if (poller) show('reconnecting')
  }
}

function later() {
  clearTimeout(retry)
  retry = setTimeout(connect, Math.random() * (within ?? Math.min(20000, 500 * 2 ** failures)))
  within = undefined
}

function lost(which) {
  if (which !== socket) return
  socket = doubted = undefined
  clearInterval(beat)
  heard()
  if (greeted || !poller) show('reconnecting')
  greeted = false
  failures++
  if (!poller) {
    poller = setInterval(poll, POLL)
    if (failures > 1) poll()
  }
  later()
}

// heard ends the wait for an answer: the next question waits anew.
function heard() {
  clearTimeout(silence)
  silence = undefined
}

// drop gives a socket up at once, without waiting for it to say good-bye.
function drop(which) {
  lost(which)
  which.close()
}

function connect() {
  clearTimeout(retry)
  if (socket || paused) return
  const known = `?format=${FORMAT}` + (live.states ? `&epoch=${live.epoch}&v=${live.version}` : '')
  const mine = socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}/live${known}`)
  mine.binaryType = 'arraybuffer'
  mine.onmessage = event => {
    if (mine !== socket) return
    try {
      hear(event.data, mine)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      drop(mine)
    }
  }
  mine.onclose = () => lost(mine)
  silence = setTimeout(() => drop(mine), PATIENCE)
}

function hear(message, mine) {
  const m = decode(message)
  switch (m.type) {
    case HELLO:
      greeted = true
      doubted = undefined
      heard()
      clock.measure(m.now, 1000)
      if (live.states && live.epoch !== m.epoch) live.version = -1
      askTimes()
      clearInterval(beat)
      beat = setInterval(askTime, BEAT)
      break
    case SNAP: live.replace(m); break
    case DELTA:
      if (!live.apply(m)) mine.send(wanted(GAP, live))
      break
    case AUDIT: {
      const sum = live.differs(m)
      if (sum) mine.send(wanted(DIVERGED, {...m, sum}))
      break
    }
    case MINE: live.dispatchEvent(new CustomEvent('mine', {detail: m})); break
    case MOVE:
      within = m.within
      drop(mine)
      return
    case PONG:
      heard()
      if (m.sent < doubted) break // asked before the machine slept: its trip seems short, and its time is old
      doubted = undefined
      clock.measure(m.now, performance.now() - m.sent)
      break
    default: live.other?.(live.told = m)
  }
  showLive()
}

// askTimes asks several times: the way is slow now and then.
const askTimes = () => [0, 300, 900].map(wait => setTimeout(askTime, wait))

function askTime() {
  const mine = socket
  if (!mine || mine.readyState !== 1) return
  mine.send(ping(live.epoch, performance.now()))
  silence ??= setTimeout(() => drop(mine), PATIENCE)
}

// pause lets the page stand still until it is told to go on. Claims go on as always.
function pause(yes) {
  paused = yes
  if (!yes) {
    sessionStorage.removeItem(KEPT)
    failures = 0
    return back()
  }
  sessionStorage.setItem(KEPT, '1')
  const old = socket
  socket = undefined
  greeted = false
  stopPolling()
  for (const timer of [retry, beat]) clearTimeout(timer)
  heard()
  old?.close()
  show('paused')
}

// pauseButton serves slow readers and users of screen readers.
function pauseButton() {
  const button = $('[data-pause]')
  const name = () => { button.textContent = paused ? T('Resume updates') : T('Pause updates') }
  button.addEventListener('click', () => {
    pause(!paused)
    name()
    if (said = paused) say(WORDS.paused, false)
  })
  name()
  button.hidden = false
}

// back looks what happened while the page was away.
function back() {
  if (paused) return
  clock.anew()
  if (poller) poll()
  else resync().catch(() => {})
  if (socket) askTimes()
  else connect()
}

// woken is back for a page that may have been away for long.
function woken(long) {
  if (long || performance.now() - current > LATE) doubt()
  back()
}

export async function start() {
  $('#map')?.insertAdjacentHTML('beforeend', '<p class="stale"></p>')
  pauseButton()
  clock.watch()
  clock.addEventListener('wake', ({detail}) => woken(detail.leapt))
  addEventListener('pageshow', event => { if (event.persisted) woken(true) })
  addEventListener('online', () => woken(true))
  addEventListener('offline', () => { if (socket) drop(socket) })
  setInterval(tellAge, 1000)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) woken() })
  try {
    await resync()
  } catch {
    show('reconnecting')
  }
  connect()
}
