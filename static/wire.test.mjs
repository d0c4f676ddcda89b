// The browser's side of the wire, on the messages that the server's tests write and read.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/wire.js', import.meta.url), 'utf8')
const {decode, ping, wanted, checksum, WireError} = await import('data:text/javascript,' + encodeURIComponent(source))
const golden = JSON.parse(readFileSync(new URL('../realtime/testdata/wire.json', import.meta.url), 'utf8'))

const bytes = hex => new Uint8Array((hex.match(/../g) ?? []).map(b => parseInt(b, 16))).buffer
const hex = buffer => Buffer.from(buffer).toString('hex')
const rows = counts => counts?.map(c => [c.free, c.held, c.sold, c.blocked])
const said = {
  ping: g => ping(g.epoch, g.t0),
  resync: g => wanted(g.reason, g),
}

for (const g of golden.filter(g => !said[g.type])) {
  test(`the page reads ${g.name}`, () => {
    const m = decode(bytes(g.hex))
    assert.equal(m.epoch, g.epoch)
    for (const field of ['version', 'to', 'now', 'tick', 'format', 'within', 'sum', 'deadline', 'extensions']) if (g[field]) assert.equal(m[field], g[field], field)
    if (g.type === 'pong') assert.equal(m.sent, g.t0)
    if (g.type === 'delta') assert.equal(m.from, g.from)
    if (g.counts) assert.deepEqual(rows(m.counts), g.counts)
    if (g.states) assert.deepEqual([...m.states], g.states)
    if (g.type === 'mine') assert.deepEqual(m.idx, g.idx ?? [])
    if (g.type === 'prices') assert.deepEqual([m.r.uvarint(), m.r.uvarint(), m.r.uvarint() - 1], [g.list, g.phase, g.left]) // by static/js/types.js
    if (g.changes) assert.deepEqual([...m.idx].map((idx, i) => [idx, m.state[i]]), g.changes)
  })
  test(`the page reads ${g.name} of a later program, which says more`, () => {
    if (g.type !== 'delta' && g.type !== 'prices') assert.deepEqual(decode(bytes(g.hex + '00ff')), decode(bytes(g.hex)))
  })
}

for (const g of golden.filter(g => said[g.type])) {
  test(`the page says ${g.name}`, () => assert.equal(hex(said[g.type](g)), g.hex))
}

test('the page comes to the same checksum', () => {
  const map = decode(bytes(golden.find(g => g.type === 'snap').hex))
  const {sum} = golden.find(g => g.type === 'audit')
  assert.equal(checksum(map), sum)
  map.states[4] = 1
  assert.notEqual(checksum(map), sum)
  map.states[4] = 0
  map.counts[1].held = 1
  assert.notEqual(checksum(map), sum)
})

test('an earlier program says less in HELLO', () => {
  assert.equal(decode(bytes('01efbeaddeac0200b087330da67b42c801')).format, 1)
})

test('a message that was cut off is noticed', () => {
  for (const g of golden.filter(g => g.type !== 'delta' && g.type !== 'hello' && g.type !== 'prices' && !said[g.type])) {
    for (let n = 0; n < g.hex.length; n += 2) assert.throws(() => decode(bytes(g.hex.slice(0, n))), WireError, g.name)
  }
})

// A generator of its own, so that a failure comes again.
function dice(seed) {
  return n => {
    seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d) + 0x6d2b79f5 | 0
    return ((seed ^ seed >>> 13) >>> 0) % n
  }
}

test('whatever bytes come, decode reads them or throws its one error', () => {
  const roll = dice(11)
  const frames = golden.map(g => new Uint8Array(bytes(g.hex)))
  for (let i = 0; i < 50000; i++) {
    let b = Uint8Array.from(frames[roll(frames.length)])
    if (i % 3 === 0) b = Uint8Array.from({length: roll(40)}, () => roll(256))
    if (i % 3 === 0 && b.length) b[0] = roll(10)
    for (let k = roll(4); k > 0 && b.length; k--) b[roll(b.length)] = roll(3) ? roll(256) : 255
    b = b.slice(0, 1 + roll(b.length + 1))
    try {
      decode(b.buffer)
    } catch (error) {
      assert.ok(error instanceof WireError, `${hex(b.buffer)}: ${error}`)
    }
  }
})
