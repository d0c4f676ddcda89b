// The live map: the state of every seat as the server last said, and the clock of its database.
//
// A snapshot comes over HTTP, changes over a socket. Whatever goes wrong, the page fetches the snapshot again; where
// no socket opens it asks every three seconds.

import {decode, ping, HELLO, SNAP, DELTA, PONG} from 'usher/wire'
import {data, path} from 'usher/page'

const POLL = 3000, BEAT = 20000, PATIENCE = 8000

// live is what is known. It sends the event "change" with detail = idx of changed seats, or null for all.
class Live extends EventTarget {
  states = null
  counts = []
  epoch = 0
  version = -1
  #offset = Date.now() - performance.now() // database time minus this page's
  #trip = Infinity // round trip of the measurement the offset comes from

  // now is the database's time in ms since 1970, as well as this page knows it.
  now() { return performance.now() + this.#offset }

  // measure takes a reading of the database's clock; the one with the shortest round trip counts.
  measure(now, trip) {
    if (trip > this.#trip) return
    this.#trip = trip
    this.#offset = now + trip / 2 - performance.now()
  }
  measureAnew() { this.#trip = Infinity }

  replace({epoch, version, states, counts}) {
    if (epoch === this.epoch && version < this.version) return
    Object.assign(this, {epoch, version, states, counts})
    this.#changed(null)
  }

  // apply takes a delta; false if the page missed what came before it.
  apply({epoch, from, to, counts, idx, state}) {
    if (!this.states || epoch !== this.epoch || this.version < from) return false
    if (to <= this.version) return true
    idx.forEach((at, i) => { this.states[at] = state[i] })
    this.version = to
    this.counts = counts
    this.#changed(idx)
    return true
  }
  #changed(idx) { this.dispatchEvent(new CustomEvent('change', {detail: idx})) }
}

export const live = new Live()

let socket, greeted = false, failures = 0, retry, poller, beat, silence

function show(state) { if (data.live !== state) data.live = state }

function showLive() {
  if (!greeted || !live.states) return
  failures = 0
  stopPolling()
  show('live')
}

// resync fetches the whole map. It throws if nobody answers.
export async function resync() {
  const began = performance.now()
  const answer = await fetch(`${path}/map.bin`, {cache: 'no-cache', signal: AbortSignal.timeout(PATIENCE)})
  if (!answer.ok) throw new Error(`the map: status ${answer.status}`)
  const map = decode(await answer.arrayBuffer())
  const now = Number(answer.headers.get('Usher-Now'))
  if (now && live.version < 0) live.measure(now, performance.now() - began)
  live.replace(map)
  showLive()
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
  retry = setTimeout(connect, Math.random() * Math.min(20000, 500 * 2 ** failures))
}

function lost(which) {
  if (which !== socket) return
  socket = undefined
  clearInterval(beat)
  clearTimeout(silence)
  if (greeted || !poller) show('reconnecting')
  greeted = false
  failures++
  if (!poller) {
    poller = setInterval(poll, POLL)
    if (failures > 1) poll()
  }
  later()
}

// drop gives a socket up at once, without waiting for it to say good-bye.
function drop(which) {
  lost(which)
  which.close()
}

function connect() {
  clearTimeout(retry)
  if (socket) return
  const known = live.states ? `?epoch=${live.epoch}&v=${live.version}` : ''
  const mine = socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}/live${known}`)
  mine.binaryType = 'arraybuffer'
  mine.onmessage = event => { if (mine === socket) hear(event.data) }
  mine.onclose = () => lost(mine)
  silence = setTimeout(() => drop(mine), PATIENCE)
}

function hear(message) {
  const m = decode(message)
  switch (m.type) {
    case HELLO:
      greeted = true
      clearTimeout(silence)
      live.measure(m.now, 1000)
      if (live.states && live.epoch !== m.epoch) live.version = -1
      for (const wait of [0, 300, 900]) setTimeout(askTime, wait)
      clearInterval(beat)
      beat = setInterval(askTime, BEAT)
      break
    case SNAP: live.replace(m); break
    case DELTA:
      if (!live.apply(m)) resync().catch(() => socket && drop(socket))
      break
    case PONG:
      clearTimeout(silence)
      silence = undefined
      live.measure(m.now, performance.now() - m.sent)
  }
  showLive()
}

function askTime() {
  const mine = socket
  if (!mine || mine.readyState !== 1) return
  mine.send(ping(live.epoch, performance.now()))
  silence ??= setTimeout(() => drop(mine), PATIENCE)
}

function back() {
  live.measureAnew()
  resync().catch(() => {})
  if (socket) askTime()
  else connect()
}

export async function start() {
  addEventListener('pageshow', event => { if (event.persisted) back() })
  addEventListener('online', back)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) back() })
  try {
    await resync()
  } catch {
    show('reconnecting')
  }
  connect()
}
