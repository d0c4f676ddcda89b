// A replay as the server writes it (seats/organizers has the same bytes), and what a page makes of it.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/desk_replay.js', import.meta.url), 'utf8')
const {Replay} = await import('data:text/javascript,' + encodeURIComponent(source))
const golden = '010a80a094a58d1d0002090d9601010a320114'
const bytes = hex => Uint8Array.from(hex.match(/../g), b => parseInt(b, 16)).buffer

test('a replay has the state of every seat after every change', () => {
  const r = new Replay(bytes(golden))
  assert.deepEqual([r.n, r.length, [...r.times]], [10, 3, [1e12, 1e12 + 1500, 1e12 + 2000]])
  assert.deepEqual([...r.seek(1)], [2, 5])
  assert.deepEqual([...r.states], [0, 0, 1, 0, 0, 1, 0, 0, 0, 0])
  r.seek(3)
  assert.deepEqual([...r.states], [0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual(r.counts, [9, 0, 1, 0])
  assert.equal(r.soldAt[2], 1e12 + 1500)
  assert.equal(r.over, true)
  assert.equal(r.seek(0), null)
  assert.deepEqual(r.counts, [10, 0, 0, 0])
  assert.equal(r.soldAt[2], 0)
})

test('there and back is as straight there, wherever one jumps', () => {
  const r = new Replay(bytes(golden)), straight = new Replay(bytes(golden))
  for (const to of [3, 1, 2, 0, 2, 99, -1, 3, 2]) {
    r.seek(to)
    straight.seek(0)
    straight.seek(to)
    assert.deepEqual([...r.states], [...straight.states])
    assert.deepEqual(r.counts, straight.counts)
  }
})

test('a time is as many changes as there were by then', () => {
  const r = new Replay(bytes(golden))
  assert.deepEqual([0, 1e12, 1e12 + 1499, 1e12 + 1500, 9e12].map(at => r.until(at)), [0, 1, 1, 2, 3])
})

test('a sale in which nothing happened, and bytes that are no replay', () => {
  const r = new Replay(bytes('010a00'))
  assert.deepEqual([r.length, r.over, r.time], [0, true, 0])
  for (const wrong of ['', '02', '010a', golden.slice(0, -2)]) assert.throws(() => new Replay(bytes(wrong || '00')))
})
