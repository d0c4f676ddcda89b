// What the page of a waiting room computes, on the cases that the server's tests write; and that pages do not ask more often
// because a sale opens.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const source = read('js/stand.js')
const text = 'data:text/javascript;base64,' + btoa(read('js/text.js'))
const load = source => import('data:text/javascript,' + encodeURIComponent(source.replace('usher/text', text)))
const stand = await load(source)
const zone = 'Europe/Berlin'
const called = {full: 'next', late: 'late', left: 'left', used: 'left'}

// told is the text that a page shows to a visitor.
function told({before, promised, stands, words, chance, advice, moved, left}, {status, kind, number, called: why}) {
  const at = Date.parse(status.at), ahead = before(status.ahead ?? [], number)
  const seat = chance(status, number)
  return {
    state: stands(status, {kind, number, called: called[why] ?? why}, at), ahead, wait: words(promised(status, number, at), at, zone),
    seat, advice: advice(seat), moved: moved(status, zone), left: left(status, zone),
  }
}

const golden = JSON.parse(read('../handlers/shop/testdata/room.json'))

for (const g of golden) {
  test(`the page says what the server says: ${g.name}`, () => {
    const {state, ahead, wait, seat, advice, moved, left} = g
    assert.deepEqual(told(stand, g), {state, ahead, wait, seat, advice, moved, left})
  })
}

const faults = {
  'one ahead too many': ['number - a - 1) * (m', 'number - a) * (m'],
  'a promise that ends too early': ['Math.ceil(second(2)', 'Math.floor(second(2)'],
  'no interpolation': ['(a ? a[k]', '(false ? a[k]'],
  'a promise that is over': ['to > now ?', 'true ?'],
  'likely is uncertain': ['number <= s.likely', 'number < 0'],
  'another zone': ['timeZone: zone', "timeZone: 'UTC'"],
  'called too early': ['number <= s.serving', 'number <= s.serving + 1'],
  'sold out while seats are held': ['s.held === 0 && ', ''],
  'paused and waiting': ["s.phase === 'paused'", 'false'],
  'a lobby that is open too early': ['> now', '> now + 1e9'],
  'not in, though inside': ["called === 'inside' || ", ''],
}
for (const [name, [from, to]] of Object.entries(faults)) {
  test(`a planted fault is noticed: ${name}`, async () => {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    const wrong = await load(source.replace(from, to))
    assert.ok(golden.some(g => {
      const said = told(wrong, g)
      return Object.keys(said).some(key => said[key] !== g[key])
    }))
  })
}

const answers = [[1, 5], [1, 4], [1, 5], [0, 9], [1, 7], [1, 6]].map(([epoch, v]) => ({epoch, v}))
const versions = newer => answers.reduce((list, next) => [...list, newer(next, list.at(-1))], [{epoch: 1, v: 3}]).map(s => s.v).join()

test('a lower version, or one of an earlier epoch, is ignored', async () => {
  assert.equal(versions(stand.newer), '3,5,5,5,5,7,7')
  for (const [from, to] of [['next.v > shown.v', 'true'], ['next.epoch === shown.epoch &&', '']]) {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    assert.notEqual(versions((await load(source.replace(from, to))).newer), '3,5,5,5,5,7,7')
  }
})

// A socket tells at once that it is sold out; an answer that was kept on the way for two seconds says otherwise.
test('of two answers of one version the older one is ignored', async () => {
  const shown = {epoch: 1, v: 3, at: '2030-03-01T10:00:05.5Z', free: 0}, older = {...shown, at: '2030-03-01T10:00:05Z', free: 4}
  assert.equal(stand.newer(older, shown).free, 0)
  assert.equal(stand.newer(shown, older).free, 0)
  const from = '&& !(Date.parse(next.at) < Date.parse(shown.at))'
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  assert.equal((await load(source.replace(from, ''))).newer(older, shown).free, 4, 'a planted fault is not noticed')
})

test('who is in the draw is never told of 0 people', () => {
  assert.deepEqual([0, 1, 1200].map(lobby => stand.people({lobby})), ['1', '1', '1,200'])
})

test('who joined after the last outlook is not told that a seat is unlikely while seats are there', () => {
  const s = {ahead: [[10, 0], [40, 30]], likely: 810, maybe: 1260} // for 1,000 people
  assert.deepEqual([41, 800, 1200, 1300].map(number => stand.chance(s, number)), ['likely', 'likely', 'uncertain', 'unlikely'])
  assert.equal(stand.chance({ahead: []}, 41), 'not known yet')
})

test('of two million only those try for a socket who are near, and of thousands everybody', () => {
  const many = {lobby: 2_000_000, line: 0, serving: 10}, few = {lobby: 40_000, line: 3, serving: 0}
  assert.deepEqual([stand.near(many, 900_000), stand.near(many, 14_000), stand.near(few, Infinity)], [false, true, true])
})

// random is the same in each run.
function random(seed) {
  return () => {
    seed = seed + 0x6d2b79f5 | 0
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return ((t ^ t >>> 14) >>> 0) / 4294967296
  }
}

const OPENS = 600, DRAWN = 608, WINDOW = 5

// crowd lets pages ask from ten minutes before the opening to five minutes after it, and counts how many ask in each window
// of five seconds: most is the busiest one of the lobby, and of the time from the opening on.
function crowd({every, stands, before, seconds}, people, rate, seed = 1) {
  const next = random(seed), counts = []
  const status = t => {
    const in_ = Math.max(0, t - DRAWN), open = t >= DRAWN, served = Math.min(people, Math.floor(in_ * rate / 0.65))
    return {
      phase: t < OPENS ? 'lobby' : open ? 'open' : 'drawing', opens_at: new Date(OPENS * 1000).toISOString(), lobby: people, line: 0, serving: served,
      free: 5000, held: 0, sold: 0, ahead: [[served, 0], [people, Math.round((people - served) * 0.65)]], rate: rate * Math.min(60, in_) / 60, leave: 0.0001,
    }
  }
  for (let i = 1; i <= people; i++) {
    let t = next() * 60, inside = false
    while (t < OPENS + 300 && !inside) {
      const w = Math.floor(t / WINDOW)
      counts[w] = (counts[w] ?? 0) + 1
      const s = status(t), me = {kind: 1, number: t < DRAWN ? 0 : i}
      const state = stands(s, me, t * 1000)
      const now = Date.now
      Date.now = () => t * 1000 // for code that reads the clock
      t += every(s, state, me.number ? seconds(s, before(s.ahead, i)) : undefined, next())
      Date.now = now
      inside = state === 'called'
    }
  }
  const most = list => Math.max(...Array.from(list, n => n ?? 0))
  return {lobby: most(counts.slice(120 / WINDOW, OPENS / WINDOW)), after: most(counts.slice(OPENS / WINDOW))}
}

for (const [people, rate] of [[300, 1], [10_000, 6], [10_000, 40], [40_000, 40]]) {
  test(`when a room of ${people} opens at ${rate} a second, no more pages ask than before`, () => {
    const {lobby, after} = crowd(stand, people, rate)
    assert.ok(after <= lobby * 1.1, `${after} asked in the busiest ${WINDOW} s from the opening on, ${lobby} in the lobby`)
  })
}

// late is the longest time in seconds after which a page learns of a change that the server shows within one.
const late = (every, s, state, wait) => Math.max(...[0, 0.5, 1].map(random => every(s, state, wait, random))) + 1

test('who is about to be called, and everybody in a sale that ends, learns within five seconds that it is sold out', () => {
  const s = {lobby: 2_000_000, line: 0, serving: 1_980_000, free: 300}
  for (const [state, wait] of [['called'], ['next'], ['waiting', 5], ['waiting', 19]]) assert.ok(late(stand.every, s, state, wait) <= 5, `${state} ${wait}`)
  const ends = {...s, serving: 1_997_000, free: 0}
  for (const wait of [undefined, 5, 60, 3000]) assert.ok(late(stand.every, ends, 'waiting', wait) <= 5, `at the end, ${wait}`)
})

test('where a cache answers for the house, two million learn within five seconds that it is sold out, and before that nothing is free within sixteen', () => {
  const s = {lobby: 2_000_000, line: 0, serving: 20_000, free: 0, looks: 1_000_000}
  for (const wait of [undefined, 5, 60, 3000]) assert.ok(late(stand.every, s, 'waiting', wait) <= 5, `${wait}`)
  assert.ok(late(stand.every, {...s, free: 300}, 'waiting', 3000) <= 16)
  for (const wait of [undefined, 60, 3000]) { // and where none does, within 37
    const alone = late(stand.every, {...s, looks: undefined}, 'waiting', wait)
    assert.ok(alone > 30 && alone < 37.1, `${wait}: ${alone}`)
  }
})

test('without a cache thirty thousand learn within five seconds that it is sold out, and a hundred thousand within thirteen', () => {
  const s = waiting => ({phase: 'open', lobby: waiting, line: 0, serving: 0, free: 0})
  for (const wait of [undefined, 60, 3000]) {
    assert.ok(late(stand.every, s(30_000), 'waiting', wait) <= 5, `${wait}`)
    assert.ok(late(stand.every, s(100_000), 'waiting', wait) < 13.1, `${wait}`)
    assert.ok(late(stand.every, {...s(30_000), phase: 'lobby'}, 'lobby') > 30, 'a lobby needs no hurry')
  }
})

test('a planted slow page is noticed', async () => {
  const slow = async (from, to) => {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    return (await load(source.replace(from, to))).every
  }
  const s = {phase: 'open', lobby: 3000, line: 0, serving: 0, free: 0}
  assert.ok(late(await slow('? 10 : 1', '? 1 : 1'), {...s, lobby: 30_000}, 'waiting', 600) > 5)
  assert.ok(late(await slow('return some(3)', 'return some(5)'), s, 'waiting', 5) > 5)
  assert.ok(late(await slow(' && s.free > 0) return', ') return'), s, 'waiting', 600) > 5)
  assert.ok(late(await slow('(s.looks ?? 1000)', '1000'), {lobby: 2_000_000, line: 0, serving: 0, free: 0, looks: 1_000_000}, 'waiting', 600) > 5)
})

const waves = {
  'everybody asks at the opening': ['return some(pace)', "return s.phase === 'lobby' ? Math.min(some(pace), Math.max(0.1, Date.parse(s.opens_at) / 1000 - Date.now() / 1000)) : some(pace)"],
  'everybody asks within nine seconds of it': ['return some(pace)', "const left = (Date.parse(s.opens_at) - Date.now()) / 1000; return left > 0 && left < 30 ? left + 1 + 8 * random : some(pace)"],
  'everybody is impatient during the draw': ['return some(pace)', "return state === 'drawing' ? some(4) : some(pace)"],
}
for (const [name, [from, to]] of Object.entries(waves)) {
  test(`a planted wave is noticed: ${name}`, async () => {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    const {lobby, after} = crowd(await load(source.replace(from, to)), 40_000, 6)
    assert.ok(after > lobby * 1.1, `${after} asked from the opening on, ${lobby} in the lobby`)
  })
}
