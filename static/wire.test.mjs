// The browser's side of the wire, on the messages that the server's tests write and read.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/wire.js', import.meta.url), 'utf8')
const {decode} = await import('data:text/javascript,' + encodeURIComponent(source))
const golden = JSON.parse(readFileSync(new URL('../realtime/testdata/wire.json', import.meta.url), 'utf8'))

const bytes = hex => new Uint8Array(hex.match(/../g).map(b => parseInt(b, 16))).buffer
const rows = counts => counts?.map(c => [c.free, c.held, c.sold, c.blocked])

for (const g of golden) {
  test(`the page reads ${g.name}`, () => {
    const m = decode(bytes(g.hex))
    assert.equal(m.epoch, g.epoch)
    for (const field of ['version', 'to', 'now', 'tick']) if (g[field]) assert.equal(m[field], g[field], field)
    if (g.type === 'pong') assert.equal(m.sent, g.t0)
    if (g.type === 'delta') assert.equal(m.from, g.from)
    if (g.counts) assert.deepEqual(rows(m.counts), g.counts)
    if (g.states) assert.deepEqual([...m.states], g.states)
    if (g.changes) assert.deepEqual([...m.idx].map((idx, i) => [idx, m.state[i]]), g.changes)
  })
}

test('a message that was cut off is noticed', () => {
  const snap = golden.find(g => g.type === 'snap').hex
  assert.throws(() => decode(bytes(snap.slice(0, -2))), RangeError)
})
