// The page's map, on a sequence of messages that the server's tests write: right ones, old ones, doubled ones, gaps and
// words of another epoch.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const module = source => 'data:text/javascript,' + encodeURIComponent(source)
const wire = module(read('js/wire.js'))
const {RESYNC} = await import(wire)
const steps = JSON.parse(read('../realtime/testdata/sequence.json'))
const bytes = hex => new Uint8Array(hex.match(/../g).map(b => parseInt(b, 16))).buffer
const tick = () => new Promise(setImmediate)

const later = [] // what the page wants to do in a while

// What a page stands on, as far as its map needs it.
const element = {addEventListener() {}, insertAdjacentHTML() {}, textContent: '', hidden: false}
const page = 'export const data = {slug: "x"}, path = "", say = () => {}, span = ms => ms, $ = () => globalThis.element'
class Socket {
  constructor(url) { Object.assign(this, {url, said: [], readyState: 1}); Socket.last = this }
  send(message) { this.said.push(new Uint8Array(message)[0]) }
  close() {}
}
Object.assign(globalThis, {
  element, WebSocket: Socket, location: {protocol: 'http:', host: 'x'}, document: {addEventListener() {}, hidden: false}, addEventListener() {},
  fetch: async () => ({ok: false, status: 503}), sessionStorage: {getItem: () => null, setItem() {}, removeItem() {}},
  setInterval: () => 0, setTimeout: f => later.push(f) && 0, clearInterval() {}, clearTimeout() {},
})

let pages = 0
// open loads the page's script, with a fault where the test plants one. Each page has its own facts and its own clock.
async function open(from = '', to = '') {
  const source = read('js/live.js'), own = `// ${pages++}`
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const parts = {wire, text: module(read('js/text.js')), page: module(page + own), clock: module(read('js/clock.js') + own)}
  const text = Object.entries(parts).reduce((text, [name, at]) => text.replace(`'usher/${name}'`, JSON.stringify(at)), source.replace(from, to))
  const {live, start, resync} = await import(module(text + own)), {clock} = await import(parts.clock), {data} = await import(parts.page)
  await start()
  return {live, resync, clock, data, socket: Socket.last}
}

// walk takes all steps and tells the first after which the page has something else than it should.
async function walk({live, socket}) {
  for (const [i, s] of steps.entries()) {
    socket.said.length = 0
    socket.onmessage({data: bytes(s.hex)})
    const has = {asks: socket.said.includes(RESYNC), epoch: live.epoch, version: live.version, states: live.states.join(''), counts: live.counts.map(c => [c.free, c.held, c.sold, c.blocked])}
    const {hex, ...want} = s
    try {
      assert.deepEqual(has, want)
    } catch (error) {
      return `step ${i}: ${error.message}`
    }
  }
  return ''
}

test('the page takes every step of the golden sequence', async () => {
  assert.equal(await walk(await open()), '')
})

const faults = {
  'applies an old delta': 'if (to <= this.version) return true',
  'ignores the epoch of a delta': 'epoch !== this.epoch || this.version < from',
  'does not notice a gap': ' || this.version < from',
  'takes an older map': 'if (epoch === this.epoch && version < this.version) return',
  'keeps the counts of before': 'this.counts = counts\n    this.#changed(idx)',
}

for (const [what, line] of Object.entries(faults)) {
  test(`a page that ${what} is noticed`, async () => {
    assert.notEqual(await walk(await open(line, line.startsWith('epoch') ? 'this.version < from' : line.startsWith('this.counts') ? 'this.#changed(idx)' : '')), '')
  })
}

test('an answer of before a restore does not replace what the socket said since', async () => {
  const maps = steps.filter(s => s.hex.startsWith('02')), old = maps[0], fresh = maps.find(s => s.epoch > old.epoch)
  const {live, resync, socket} = await open()
  socket.onmessage({data: bytes('01' + '01000000' + '00' + '0000000000000000' + '00')}) // HELLO
  globalThis.fetch = async () => ({ok: true, status: 200, headers: new Map(), arrayBuffer: async () => bytes(old.hex)})
  socket.onmessage({data: bytes(fresh.hex)})
  await resync()
  await tick()
  assert.deepEqual([live.epoch, live.version], [fresh.epoch, fresh.version])
})

test('a socket that says nothing after its hello is given up', async () => {
  const {data, socket} = await open()
  later.length = 0
  socket.onmessage({data: bytes('01' + '01000000' + '00' + '0000000000000000' + '00')}) // HELLO
  for (const ask of later.splice(0)) ask()
  for (const patienceEnds of later.splice(0)) patienceEnds()
  assert.equal(data.live, 'reconnecting')
})

// away is what a page says of itself while it wakes from a sleep: before, at once, with news of before, with the answer to a
// question of before, and with that to its own.
async function away(from, to) {
  const {data, clock, socket} = await open(from, to), states = [], {epoch, hex} = steps.find(s => s.hex.startsWith('02'))
  const hear = m => { socket.onmessage({data: m}); states.push(data.live) }
  const message = (type, size, ...floats) => {
    const m = new DataView(new ArrayBuffer(size))
    m.setUint8(0, type)
    m.setUint32(1, epoch, true)
    floats.forEach((n, i) => m.setFloat64(5 + 8 * i, n, true))
    return m.buffer
  }
  socket.onmessage({data: message(1, 15)}) // HELLO
  hear(bytes(hex))
  const before = performance.now()
  await new Promise(done => setImmediate(done))
  clock.dispatchEvent(new CustomEvent('wake', {detail: {leapt: true}}))
  states.push(data.live)
  hear(bytes(hex))
  const measured = clock.now() - performance.now()
  hear(message(7, 21, before, 0)) // PONG
  if (Math.abs(clock.now() - performance.now() - measured) > 1) states.push('another time')
  hear(message(7, 21, performance.now(), 0))
  return states.join()
}

test('a page that slept says that it looks until its own question is answered', async () => {
  const right = 'live,looking,looking,looking,live'
  assert.equal(await away(), right)
  for (const fault of [
    ['if (long || performance.now() - current > LATE) doubt()', ''],
    [' || doubted !== undefined) return', ') return'],
    ['if (m.sent < doubted) break', ''],
  ]) assert.notEqual(await away(...fault), right, fault[0])
})

test('for eight hours the page knows the time, though its clock drifts and the way is slow at times', async () => {
  const {clock} = await open()
  const DRIFT = 100e-6, AHEAD = 3600e3, start = performance.now(), untouched = performance.now
  let real = start, seed = 5, worst = 0
  const trips = [], dice = n => (seed = seed * 48271 % 0x7fffffff) % n
  performance.now = () => start + (real - start) * (1 + DRIFT)
  try {
    for (let beat = 0; beat < 8 * 180; beat++, real += 20000) {
      const there = dice(10) ? 5 + dice(20) : dice(4000), back = dice(10) ? 5 + dice(20) : dice(4000), sent = performance.now()
      real += there
      const now = real + AHEAD
      real += back
      clock.measure(now, performance.now() - sent)
      trips.push(performance.now() - sent)
      const off = Math.abs(clock.now() - real - AHEAD), may = Math.min(...trips.slice(-8)) / 2 + 50
      worst = Math.max(worst, off - may)
    }
  } finally {
    performance.now = untouched
  }
  assert.ok(worst <= 0, `it was off by ${worst} ms more than it may`)
})

// A generator of its own, so that a failure comes again.
function dice(seed) {
  return n => (seed = seed * 48271 % 0x7fffffff) % n
}

const SEATS = 23

// House is a server: its map in every version there was, what is on its way to the page, and how far the socket is.
class House {
  epoch = 1
  version = 0
  history = new Map()
  wire = [] // messages on their way, in their order
  answers = [] // maps that were asked for by HTTP, each as it was then
  sent = -1
  constructor(roll) {
    this.roll = roll
    this.states = Array.from({length: SEATS}, () => roll(4))
    this.keep()
  }
  get counts() { return [0, 1, 2, 3].map(state => this.states.filter(s => s === state).length) }
  keep() { this.history.set(`${this.epoch}-${this.version}`, {states: [...this.states], counts: this.counts}) }
  change() {
    const touched = Array.from({length: 1 + this.roll(4)}, () => this.roll(SEATS))
    for (const idx of touched) this.states[idx] = this.roll(4)
    this.version++
    this.keep()
    this.history.get(`${this.epoch}-${this.version}`).touched = touched
  }
  // restore is a database that begins again with a map of before.
  restore() {
    this.version = this.roll(this.version + 1)
    this.epoch++
    this.states = Array.from({length: SEATS}, () => this.roll(4))
    this.keep()
    this.sent = this.roll(2) ? -1 : this.version // a server that is wrong about what the page has
  }
  message(type, ...rest) { return Uint8Array.from([type, this.epoch & 255, this.epoch >> 8, 0, 0, ...rest.flatMap(leb)]).buffer }
  snap() {
    const bits = Array(Math.ceil(SEATS / 4)).fill(0)
    this.states.forEach((s, i) => { bits[i >> 2] |= s << 2 * (i & 3) })
    return this.message(2, this.version, SEATS, 1, ...this.counts, bits.map(raw))
  }
  delta(from) {
    const touched = new Set(), entries = []
    for (let v = from + 1; v <= this.version; v++) for (const idx of this.history.get(`${this.epoch}-${v}`).touched) touched.add(idx)
    let last = 0
    this.states.forEach((s, i) => {
      if (!touched.has(i) && this.roll(9)) return
      entries.push((i - last) * 4 + s)
      last = i
    })
    return this.message(3, from, this.version, 1, ...this.counts, ...entries)
  }
  hello() { this.wire.push(this.message(1, this.version, Array(8).fill(raw(0)), 100, 1)) }
  // tell sends what the socket does not have yet, as a delta or as the whole map; now and then what it had, once more.
  tell() {
    const again = this.roll(8) === 0 && this.sent > 0 && this.history.has(`${this.epoch}-${this.sent - 1}`)
    const from = again ? this.sent - 1 : this.sent
    const known = from >= 0 && this.history.has(`${this.epoch}-${from}`) && from <= this.version
    if (this.sent === this.version && !again) return
    this.wire.push(known && this.roll(6) ? this.delta(from) : this.snap())
    this.sent = this.version
  }
}

const raw = byte => ({byte})
function leb(n) {
  if (Array.isArray(n)) return n.flatMap(leb)
  if (n.byte !== undefined) return [n.byte]
  return n < 128 ? [n] : [n % 128 | 128, ...leb(Math.floor(n / 128))]
}

// live a while: returns where the page showed something that never was, or in the end not what is.
async function lives(seed, deeds, from, to) {
  const roll = dice(seed), house = new House(roll)
  globalThis.fetch = () => new Promise(done => house.answers.push({bytes: house.snap(), done}))
  const opening = open(from, to)
  for (let i = 0; i < 5; i++) await tick()
  house.answers.shift().done({ok: true, status: 200, headers: new Map(), arrayBuffer: async () => house.snap()})
  const {live, resync} = await opening
  let before = {epoch: 0, version: 0}, greeted = false
  const look = what => {
    if (!live.states || live.version < 0) return ''
    const {epoch, version} = before
    before = {epoch: live.epoch, version: live.version}
    if (live.epoch === epoch ? live.version < version : greeted && live.epoch < epoch) return `${what}: the page goes back to version ${live.version} of epoch ${live.epoch}`
    const want = house.history.get(`${live.epoch}-${live.version}`)
    const has = {states: [...live.states], counts: live.counts.flatMap(c => [c.free, c.held, c.sold, c.blocked])}
    if (want && has.states.join() === want.states.join() && has.counts.join() === want.counts.join()) return ''
    return `${what}: the page is not what was at version ${live.version} of epoch ${live.epoch}`
  }
  const meet = () => { // a new socket, which says what the page has
    house.wire = []
    const [, epoch, version] = /epoch=(\d+)&v=(-?\d+)/.exec(Socket.last.url) ?? [0, 0, -1]
    house.sent = Number(epoch) === house.epoch ? Number(version) : -1
    house.hello()
  }
  const hear = () => {
    const {last} = Socket
    if (!house.wire.length) return
    last.said.length = 0
    const message = house.wire.shift()
    if (new Uint8Array(message)[0] === 1) [greeted, before.version] = [true, -1] // of another epoch it forgets all
    last.onmessage({data: message})
    if (last.said.includes(RESYNC)) house.sent = -1
  }
  const does = {
    change: () => house.change(),
    tell: () => house.tell(),
    hear,
    lose: () => {
      later.length = 0
      Socket.last.onclose()
      greeted = false
      later.find(f => f.name === 'connect')?.()
      meet()
    },
    ask: () => { resync().catch(() => {}) },
    answer: async () => {
      const a = house.answers.splice(roll(house.answers.length), 1)[0]
      a?.done({ok: true, status: 200, headers: new Map(), arrayBuffer: async () => a.bytes})
      for (let i = 0; i < 3; i++) await tick()
    },
    restore: () => { if (roll(6) === 0) house.restore() },
    miss: () => { if (roll(3) === 0) house.wire.shift() }, // on a way that loses something
  }
  const usual = ['change', 'change', 'change', 'tell', 'tell', 'hear', 'hear', 'hear', 'lose', 'ask', 'answer', 'restore', 'miss']
  meet()
  for (let i = 0; i < deeds; i++) {
    const what = usual[roll(usual.length)]
    await does[what]()
    const wrong = look(`deed ${i}, ${what}`)
    if (wrong) return wrong
  }
  while (house.answers.length) await does.answer()
  for (let i = 0; i < 9; i++) {
    house.change()
    house.tell()
    while (house.wire.length) hear()
  }
  const wrong = look('in the end')
  if (wrong) return wrong
  return live.epoch === house.epoch && live.version === house.version ? '' : `the page ends at version ${live.version} of epoch ${live.epoch}, the truth at ${house.version} of ${house.epoch}`
}

test('whatever comes in whatever order, the page at a version shows the map of that version and ends on the truth', async () => {
  for (let seed = 1; seed <= 40; seed++) assert.equal(await lives(seed, 120), '', `seed ${seed}`)
})

const planted = {
  'applies an old delta': ['if (to <= this.version) return true', ''],
  'ignores the epoch of a delta': ['epoch !== this.epoch || this.version < from', 'this.version < from'],
  'does not notice a gap': [' || this.version < from', ''],
  'takes an older map': ['if (epoch === this.epoch && version < this.version) return', ''],
  'takes a map of before while a socket is open': ['if (!greeted || map.epoch === live.epoch) live.replace(map)', 'live.replace(map)'],
  'says nothing of a gap': ['if (!live.apply(m)) mine.send(wanted(GAP, live))', 'live.apply(m)'],
}

for (const [what, [from, to]] of Object.entries(planted)) {
  test(`a life in which a page ${what} is noticed`, async () => {
    let found = ''
    for (let seed = 1; seed <= 40 && !found; seed++) found = await lives(seed, 120, from, to)
    assert.notEqual(found, '')
  })
}
