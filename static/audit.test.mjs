// The audit that the page of a public log makes, on logs that a house with its key may forge. cmd/usher/audit holds it against the command.

import assert from 'node:assert/strict'
import {createHash, generateKeyPairSync, sign} from 'node:crypto'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const module = source => 'data:text/javascript;base64,' + Buffer.from(source).toString('base64')
const modules = {}
for (const name of ['text', 'draw', 'logproof', 'audit']) {
  modules[name] = module(readFileSync(new URL(`js/${name}.js`, import.meta.url), 'utf8').replace(/'usher\/(\w+)'/g, (_, other) => `'${modules[other]}'`))
}
const {audit} = await import(modules.audit)
const logproof = await import(modules.logproof)

const [FREE, HELD, SOLD, BLOCKED] = [0, 1, 4, 5]
const DOORS = 1_900_000_000_000_000
const origin = 'tickets.example.org/events/evening/log'
const {privateKey, publicKey} = generateKeyPairSync('ed25519')
const raw = publicKey.export({format: 'der', type: 'spki'}).subarray(-32)
const vkey = `${origin}+00000000+${Buffer.from([1, ...raw]).toString('base64')}\n`
const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts.map(part => Buffer.from(part)))).digest()

// A sale is a list of versions, each with a time, changes of seats and the counts that it was shown with.
class Sale {
  constructor(n) {
    Object.assign(this, {versions: [], at: DOORS - 3.6e9, counts: [n, 0, 0, 0], states: Array(n).fill(FREE)})
    this.add([], {status: 1, opens: DOORS, seats: n})
  }

  add(changes, rules = null) {
    const place = {[FREE]: 0, [HELD]: 1, [SOLD]: 2, [BLOCKED]: 3}
    for (const [seat, state] of changes) {
      this.counts[place[this.states[seat]]]--
      this.counts[place[state]]++
      this.states[seat] = state
    }
    this.versions.push({version: this.versions.length, at: this.at, counts: [...this.counts], changes, rules})
    this.at += 1000
    return this
  }
}

// An honest sale: two seats are blocked and one of them is sold before the doors open, then the crowd comes.
function evening(n = 20) {
  const s = new Sale(n).add([[0, BLOCKED], [1, BLOCKED]]).add([[0, SOLD]])
  s.at = DOORS
  for (let i = 2; i < n; i++) {
    s.add([[i, HELD]])
    if (i % 5) s.add([[i, SOLD]])
  }
  return s
}

function leafOf({version, at, counts, changes, rules}) {
  const b = Buffer.alloc((rules ? 53 : 40) + 37 * changes.length)
  b[0] = 1
  b.writeBigUInt64BE(BigInt(version), 1)
  b.writeBigInt64BE(BigInt(at), 9)
  b.writeUInt16BE(1, 19)
  counts.forEach((n, i) => b.writeUInt32BE(n, 21 + 4 * i))
  if (rules) {
    b[37] = 1
    b[38] = rules.status
    b.writeBigInt64BE(BigInt(rules.opens), 39)
    b.writeUInt32BE(rules.seats, 47)
  }
  b.writeUInt16BE(changes.length, b.length - 37 * changes.length - 2)
  changes.forEach(([seat, state], i) => {
    const from = b.length - 37 * (changes.length - i)
    b.writeUInt32BE(seat, from)
    b[from + 4] = state
    if (state !== FREE) b.fill(seat % 255 + 1, from + 5, from + 37)
  })
  return b
}

// A house answers as the standard says; a request may be answered otherwise.
class House {
  constructor(sale, shown = null) {
    this.leaves = sale.versions.map(leafOf)
    this.size = this.leaves.length // that is signed
    this.shown = shown
    this.levels = [this.leaves.map(leaf => sha256([0], leaf))]
    for (let below; (below = this.levels.at(-1)).length > 1;) {
      this.levels.push(Array.from({length: below.length >> 1}, (_, i) => sha256([1], below[2 * i], below[2 * i + 1])))
    }
  }

  root(from, to) {
    const n = to - from
    if (Number.isInteger(Math.log2(n)) && from % n === 0) return this.levels[Math.log2(n)][from / n]
    const half = 2 ** Math.floor(Math.log2(n - 1))
    return sha256([1], this.root(from, from + half), this.root(from + half, to))
  }

  checkpoint(size = this.size) {
    const body = `${origin}\n${size}\n${this.root(0, size).toString('base64')}\n`
    return `${body}\n— ${origin} ${Buffer.concat([Buffer.alloc(4), sign(null, Buffer.from(body), privateKey)]).toString('base64')}\n`
  }

  answer(path) {
    if (path === '/events/evening/map.bin?as=json') return this.shown && JSON.stringify(this.shown)
    if (path === '/events/evening/log/key') return vkey
    if (path === '/events/evening/log/checkpoint') return this.checkpoint()
    const [, kind, name, width = 256] = path.match(/\/log\/tile\/(\w+)\/([x\d/]+)(?:\.p\/(\d+))?$/)
    const from = +name.replace(/\D/g, '') * 256, to = from + +width
    if (kind !== 'entries') return Buffer.concat(this.levels[8 * +kind].slice(from, to))
    return Buffer.concat(this.leaves.slice(from, to).flatMap(leaf => [Buffer.from([leaf.length >> 8, leaf.length & 255]), leaf]))
  }

  ask = async path => {
    const body = this.answer(path)
    return body === null ? new Response('', {status: 404}) : new Response(body)
  }

  audit(more = {}) {
    return audit({log: '/events/evening/log', ask: this.ask, wait: 1, patience: 50, ...more})
  }
}

test('hashes are those of SHA-256', () => {
  for (const n of [0, 1, 54, 55, 56, 63, 64, 65, 77, 119, 120, 1000, 55_540]) {
    const bytes = Buffer.from(Array.from({length: n}, (_, i) => i * 7919 >> 3 & 255))
    assert.deepEqual(Buffer.from(logproof.sha256(bytes.subarray(0, n >> 1), bytes.subarray(n >> 1))), sha256(bytes), `${n} bytes`)
  }
})

const shownOf = s => ({
  version: s.versions.length - 1, states: s.states.map(state => ({[FREE]: 0, [HELD]: 1, [SOLD]: 2, [BLOCKED]: 3})[state]).join(''),
  counts: [{free: s.counts[0], held: s.counts[1], sold: s.counts[2], blocked: s.counts[3]}],
})

test('an honest sale is right, and its seats are counted', async () => {
  const s = evening(400)
  const house = new House(s, shownOf(s))
  const r = await house.audit({seen: `before:\n\n${house.checkpoint(300)}`})
  assert.deepEqual(r.problems, [])
  const {signed, leaves, seats, free, held, sold, blocked, declared, earlyBlocks, lateBlocks, since, shown, doors} = r
  assert.deepEqual({signed, leaves, seats, free, held, sold, blocked, declared, earlyBlocks, lateBlocks, since, shown, doors},
    {signed: true, leaves: 720, seats: 400, free: 0, held: 79, sold: 320, blocked: 1, declared: 2, earlyBlocks: 1, lateBlocks: 0, since: [300], shown: 719, doors: DOORS})
})

const before = s => new House(s).checkpoint(20)
const frauds = {
  'a hold that was made before the doors opened': [s => { s.versions[5].at = DOORS - 3e6; s.versions[4].at = DOORS - 3e6; s.versions[3].at = DOORS - 3e6 }, /^Seat 2 was taken in version 3/],
  'a hold that was given an earlier time': [s => { s.at = DOORS - 6e7; s.add([[19, FREE]]) }, /written later than it says/],
  'a back-dated hold in the place of another version': [s => { s.versions[4].at = DOORS - 1 }, /not those that were signed before/, before],
  'a removed row': [s => { s.versions.splice(9, 1) }, /a change is missing/],
  'a removed row, with all later ones renumbered': [s => { s.versions.splice(9, 1); s.versions.forEach((v, i) => { v.version = i }) }, /not those that were signed before/, before],
  'a log that became shorter': [s => { s.versions.length = 15 }, /some were removed/, before],
  'a forked log': [s => { s.versions[12].changes[0][0] = 19 }, /two logs are shown/, before],
  'a block slipped in later': [s => { s.versions.splice(2, 0, {...s.versions[2], changes: [[12, BLOCKED]]}) }, /not those that were signed before/, before],
  'a late block with an earlier time': [s => { s.at = DOORS - 6e7; s.add([[5, BLOCKED]]) }, /written later than it says/],
  'a seat that is sold twice': [s => { s.add([[3, SOLD]]) }, /^Seat 3 was sold in version \d+ and sold again/],
  'counts that hide seats': [s => { s.versions[8].counts = [13, 0, 6, 1] }, /^Version 8 was shown with 13 0 6 1/],
}
for (const [name, [forge, says, seen = () => '']] of Object.entries(frauds)) {
  test(`the page finds ${name}`, async () => {
    const s = evening()
    forge(s)
    const {problems} = await new House(s).audit({seen: seen(evening())})
    assert.ok(problems.some(problem => says.test(problem)), problems.join('\n'))
  })
}

test('the page finds leaves and tiles that are not those that were signed', async () => {
  for (const [path, says] of [['tile/entries/000', /^The leaves are not those/], ['tile/0/001', /^Tile tile\/0\/001 /], ['tile/1/000.p/2', /^Tile tile\/1\/000.p\/2 /]]) {
    const house = new House(evening(400))
    const honest = house.answer.bind(house)
    house.answer = asked => {
      const body = honest(asked)
      if (asked.endsWith(path)) body[body.length - 1] ^= 1
      return body
    }
    const {problems} = await house.audit()
    assert.match(problems[0], says)
  }
})

test('the page finds a checkpoint of another key, and tells where a browser cannot check it', async () => {
  const house = new House(evening())
  const honest = house.checkpoint
  house.checkpoint = () => honest.call(house).replace(/\d+\n/, '19\n')
  assert.match((await house.audit()).problems[0], /^The checkpoint is not signed by the key/)

  const {importKey} = crypto.subtle
  crypto.subtle.importKey = async () => { throw new DOMException('', 'NotSupportedError') }
  try {
    const r = await new House(evening()).audit()
    assert.deepEqual([r.signed, r.problems], [false, []])
  } finally {
    crypto.subtle.importKey = importKey
  }
})

test('a log that grows meanwhile is read as its checkpoint signed it, and again if the map is ahead of it', async () => {
  const s = evening(400)
  const house = new House(s, shownOf(s))
  house.size = 500
  let asked = 0
  const r = await house.audit({patience: 10_000, ask: path => {
    if (path.includes('/entries/') && ++asked === 2) house.size = 720 // while the first 500 are downloaded
    return house.ask(path)
  }})
  assert.deepEqual([r.problems, r.leaves, r.shown, asked], [[], 720, 719, 4]) // the whole bundle of before is there already
  const behind = new House(s, {...shownOf(s), version: 800})
  assert.match((await behind.audit()).problems[0], /^The house shows version 800 of the map, and 0.05s later its log ends with version 719/)
})

test('a network that fails for a moment is asked again, and one that stays away is named', async () => {
  const n = {}
  const house = new House(evening(400))
  const answers = [() => { throw new TypeError('network') }, () => new Response('', {status: 503}), () => new Response('', {status: 429}), path => house.ask(path)]
  const r = await house.audit({ask: async path => answers[n[path] = (n[path] ?? -1) + 1](path)})
  assert.deepEqual([r.problems, r.leaves], [[], 720])
  await assert.rejects(house.audit({ask: async () => { throw new TypeError('network') }}), /cannot be reached/)
  await assert.rejects(house.audit({ask: async () => new Response('', {status: 500})}), /error 500/)
  await assert.rejects(house.audit({ask: async path => /entries/.test(path) ? new Response('', {status: 404}) : house.ask(path)}), /entries\/\d+\S* is not there/)
  await assert.rejects(house.audit({ask: async () => new Response('', {status: 404})}), /no public log any more/)
  await assert.rejects(house.audit({ticket: 'nothing'}), /no code of a ticket/)
  await assert.rejects(house.audit({seen: 'nothing'}), /no checkpoint/)
})

// docs/audit-log.md has the figure.
test('a sale of 50,000 seats and 40,000 orders is short, and the page has its turn meanwhile', async t => {
  const s = new Sale(50_000)
  s.at = DOORS
  for (let i = 0; i < 50_000; i++) {
    s.add([[i, HELD]])
    if (i % 5) s.add([[i, SOLD]])
  }
  const house = new House(s, shownOf(s))
  let longest = 0, last = performance.now(), turns = 0, steps = 0
  const beat = setInterval(() => {
    turns++
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  const began = last
  const r = await house.audit({progress: () => { steps++ }})
  const took = performance.now() - began
  clearInterval(beat)
  t.diagnostic(`${r.leaves} leaves in ${Math.round(took)} ms, the page waited ${Math.round(longest)} ms at most`)
  assert.deepEqual([r.problems, r.leaves, r.sold, r.held], [[], 90_001, 40_000, 10_000])
  assert.ok(took < 30_000 && turns > 50 && steps > 700, `${took} ms, ${turns} turns, ${steps} steps`)
})
