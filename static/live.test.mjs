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

// What a page stands on, as far as its map needs it.
const element = {addEventListener() {}, textContent: '', hidden: false}
const page = module('export const data = {slug: "x"}, path = "", say = () => {}, $ = () => globalThis.element')
class Socket {
  constructor() { Socket.last = this; this.said = []; this.readyState = 1 }
  send(message) { this.said.push(new Uint8Array(message)[0]) }
  close() {}
}
Object.assign(globalThis, {
  element, WebSocket: Socket, location: {protocol: 'http:', host: 'x'}, document: {addEventListener() {}, hidden: false}, addEventListener() {},
  fetch: async () => ({ok: false, status: 503}), sessionStorage: {getItem: () => null, setItem() {}, removeItem() {}},
  setInterval: () => 0, setTimeout: () => 0, clearInterval() {}, clearTimeout() {},
})

let pages = 0
// open loads the page's script, with a fault where the test plants one.
async function open(from = '', to = '') {
  const source = read('js/live.js')
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {live, start, resync} = await import(module(source.replace(from, to).replace("'usher/wire'", JSON.stringify(wire)).replace("'usher/page'", JSON.stringify(page)) + `// ${pages++}`))
  await start()
  return {live, resync, socket: Socket.last}
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

test('for eight hours the page knows the time, though its clock drifts and the way is slow at times', async () => {
  const {live} = await open()
  const DRIFT = 100e-6, AHEAD = 3600e3, start = performance.now(), clock = performance.now
  let real = start, seed = 5, worst = 0
  const trips = [], dice = n => (seed = seed * 48271 % 0x7fffffff) % n
  performance.now = () => start + (real - start) * (1 + DRIFT)
  try {
    for (let beat = 0; beat < 8 * 180; beat++, real += 20000) {
      const there = dice(10) ? 5 + dice(20) : dice(4000), back = dice(10) ? 5 + dice(20) : dice(4000), sent = performance.now()
      real += there
      const now = real + AHEAD
      real += back
      live.measure(now, performance.now() - sent)
      trips.push(performance.now() - sent)
      const off = Math.abs(live.now() - real - AHEAD), may = Math.min(...trips.slice(-8)) / 2 + 50
      worst = Math.max(worst, off - may)
    }
  } finally {
    performance.now = clock
  }
  assert.ok(worst <= 0, `it was off by ${worst} ms more than it may`)
})
