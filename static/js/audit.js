// The audit of a sale in this browser, as docs/audit-log.md specifies it: it downloads the public log, makes its tree again and replays each
// change. It says what "usher audit" says (cmd/usher/audit), in the same words; a test there holds both against each other.

import {verify} from 'usher/draw'
import {base64, commitment, parsed, same, sha256, signedBy, tilePath} from 'usher/logproof'
import {T} from 'usher/text'

const [FREE, HELD, EXPIRED, PAYING, SOLD, BLOCKED] = [0, 1, 2, 3, 4, 5]
const SKEW = 5_000_000 // microseconds that clocks of a house may be set back
const MOST_SAID = 20
const AT_ONCE = 8 // downloads
const STEP = 4096 // hashes or leaves, then the page has its turn
const PER_LEAF = 1500 // seats

const pause = ms => new Promise(done => setTimeout(done, ms))
export const moment = micros => Math.abs(micros) < 8.64e18 ? new Date(micros / 1000).toISOString().replace('T', ' ').replace('Z', ' UTC') : `${micros} µs`
const text64 = bytes => btoa(String.fromCharCode(...bytes))

// audit looks at the log with an address such as "/events/evening/log". It throws why it could not look; what is wrong is in the report.
// seen is text with checkpoints that were seen before; ticket a code, or a whole proof; progress is told the step, and which part of it is done.
export async function audit({log, seen = '', ticket = '', ask = fetchNow, patience = 40_000, wait = 1000, progress = () => {}}) {
  const report = {origin: '', key: '', checkpoint: '', signed: false, cosigners: 0, leaves: 0, versions: 0, bytes: 0, seats: 0, doors: null, free: 0, held: 0, sold: 0, blocked: 0, declared: 0, earlyBlocks: 0, presale: 0, lateBlocks: 0, returned: 0, since: [], draws: [], shown: -1, ticket: '', problems: []}
  const a = {log, seen, ask, patience, wait, progress, report, ticket: null, leaves: [], levels: null, shown: null, root: ''}
  if (ticket.trim() && !(a.ticket = parsed(ticket))) throw new Error(T('%s is no code of a ticket, such as 1042-7Q2M-4KXD-9F3A-T8WN.', ticket))
  const map = await get(a, `${log.replace(/\/log$/, '')}/map.bin?as=json`, 'json', true)
  a.shown = map && {version: map.version, states: map.states, counts: map.counts}
  report.key = (await get(a, `${log}/key`)).trim()
  if (!await readLog(a)) return report
  await checkTree(a)
  if (!report.problems.length) await checkTiles(a)
  const sale = await replay(a)
  if (sale) await checkDraws(a, sale)
  if (a.ticket) checkTicket(a, sale)
  return report
}

function wrong({report}, said) {
  if (report.problems.push(said) > MOST_SAID) report.problems.splice(MOST_SAID, Infinity, T('and more'))
}

const fetchNow = address => fetch(address, {cache: 'no-store', signal: AbortSignal.timeout(60_000)})

// get downloads, and tries again if the network or the house fails for a moment. What may be missing is null then.
async function get(a, address, kind = 'text', mayBeMissing = false) {
  for (let tries = 4; ; tries--) {
    let status = 0
    try {
      const answer = await a.ask(address)
      if (answer.ok) return await answer[kind]()
      status = answer.status
    } catch { /* no answer, or not all of it */ }
    if (status === 404 && mayBeMissing) return null
    if (status === 404) throw new Error(T('%s is not there: the event has no public log any more, or the house lost a part of it.', address))
    if (tries === 1) throw new Error(status ? T('The house answers with error %s. Try again in a minute.', status) : T('The house cannot be reached. Check your connection, and try again.'))
    await pause(a.wait)
  }
}

// each does n downloads, some of them at once, and stops at the first that fails.
async function each(n, job) {
  let next = 0
  await Promise.all(Array.from({length: AT_ONCE}, async () => {
    while (next < n) await job(next++).catch(error => { next = n; throw error })
  }))
}

// readLog downloads the log that a checkpoint signs. The map was shown before, and the log follows it: it is read again until it has that version.
async function readLog(a) {
  for (const end = Date.now() + a.patience; ;) {
    if (!await readCheckpoint(a)) return false
    await readLeaves(a)
    if (!a.shown || newest(a) >= a.shown.version || Date.now() > end) return true
    await pause(a.wait)
  }
}

async function readCheckpoint(a) {
  const {report} = a
  report.checkpoint = await get(a, `${a.log}/checkpoint`)
  try {
    report.signed = await signedBy(report.key, report.checkpoint)
  } catch {
    wrong(a, T('The checkpoint is not signed by the key %s.', report.key))
    return false
  }
  const tree = treeOf(report.checkpoint)
  if (!tree) throw new Error(T('The checkpoint cannot be read.'))
  report.cosigners = report.checkpoint.split('\n').filter(line => line.startsWith('— ')).length - 1
  ;[report.origin, report.leaves, a.root] = [tree.origin, tree.size, tree.root]
  return true
}

// treeOf reads the body of a checkpoint; null if it has no size and no root.
function treeOf(signed) {
  const [origin, size, root] = signed.split('\n')
  return /^[1-9]\d{0,14}$/.test(size) && /^[A-Za-z0-9+/]{43}=$/.test(root) ? {origin, size: +size, root} : null
}

// readLeaves downloads all bundles but whole ones that it has.
async function readLeaves(a) {
  const size = a.report.leaves
  const have = Math.floor(Math.min(a.leaves.length, size) / 256)
  const bundles = Array(Math.ceil(size / 256) - have)
  let done = have * 256
  await each(bundles.length, async i => {
    const n = have + i, width = Math.min(256, size - n * 256)
    bundles[i] = new Uint8Array(await get(a, `${a.log}/${tilePath('entries', n, width)}`, 'arrayBuffer'))
    a.progress('leaves', done += width, size)
  })
  a.leaves.length = have * 256
  for (const [i, b] of bundles.entries()) {
    a.report.bytes += b.length
    for (let at = 0; at + 2 <= b.length;) {
      const from = at + 2
      at = from + b[at] * 256 + b[at + 1]
      if (at > b.length) throw new Error(T('Leaf %s: these bytes are no leaf of this log.', a.leaves.length))
      a.leaves.push(b.subarray(from, at))
    }
  }
}

// newest is the last version of the log; -1: there is none.
function newest({leaves}) {
  for (let i = leaves.length - 1; i >= 0; i--) {
    const leaf = parse(leaves[i])
    if (leaf?.entries) return leaf.version
  }
  return -1
}

// checkTree holds the leaves against the signed root, and against the roots that were seen before.
async function checkTree(a) {
  const {leaves, report} = a
  if (leaves.length !== report.leaves) return wrong(a, T('The log serves %s leaves of the %s that it signed.', leaves.length, report.leaves))
  const level = async (n, part) => {
    const hashes = new Uint8Array(32 * n)
    for (let i = 0; i < n; i++) {
      if (i % STEP === 0) {
        if (n === leaves.length) a.progress('tree', i, n)
        await pause(0)
      }
      hashes.set(sha256(...part(i)), 32 * i)
    }
    return hashes
  }
  // Level 0 are the hashes of leaves, and each level above those of pairs of the one below.
  a.levels = [await level(leaves.length, i => [[0], leaves[i]])]
  for (let below; (below = a.levels.at(-1)).length >= 64;) a.levels.push(await level(below.length >> 6, i => [[1], below.subarray(64 * i, 64 * i + 64)]))

  const root = text64(rootOf(a, report.leaves))
  if (root !== a.root) wrong(a, T('The leaves are not those that were signed: their root is %s, the signed one is %s.', root, a.root))
  const before = checkpoints(a.seen)
  if (a.seen.trim() && !before.length) throw new Error(T('There is no checkpoint in what was seen before.'))
  for (const checkpoint of before) await continues(a, checkpoint)
}

// rootOf is the root over the first leaves (RFC 6962): of the whole trees that they are made of, the smallest first.
function rootOf({levels}, size) {
  let root = null
  for (let level = 0, n = size; n > 0; level++, n = Math.floor(n / 2)) {
    if (n % 2 === 0) continue
    const left = levels[level].subarray(32 * (n - 1), 32 * n)
    root = root ? sha256([1], left, root) : left
  }
  return root
}

// checkpoints finds the signed roots in a text, such as reports of audits.
const checkpoints = text => (text.endsWith('\n') ? text : `${text}\n`).replaceAll('\r', '').match(/.*\n.*\n.*\n\n(?:— .*\n)+/g) ?? []

async function continues(a, before) {
  const tree = treeOf(before)
  try {
    if (!tree) throw new Error('tree')
    await signedBy(a.report.key, before)
  } catch {
    return wrong(a, T('A checkpoint that was seen before is not signed by the key of this log: %s.', JSON.stringify(before.slice(0, 60))))
  }
  a.report.since.push(tree.size)
  if (tree.size > a.report.leaves) wrong(a, T('The log has %s leaves, and had %s before: some were removed.', a.report.leaves, tree.size))
  else if (!same(rootOf(a, tree.size), base64(tree.root))) {
    wrong(a, T('The first %s leaves are not those that were signed before: a leaf was changed, removed or inserted, or two logs are shown.', tree.size))
  }
}

// checkTiles holds the tiles of hashes against the leaves. A level of tiles is each eighth level of the tree.
async function checkTiles(a) {
  const tiles = []
  for (let level = 0, n = a.leaves.length; n > 0; level++, n = Math.floor(n / 256)) {
    for (let i = 0; i < n; i += 256) tiles.push([tilePath(level, i / 256, Math.min(256, n - i)), a.levels[8 * level].subarray(32 * i, 32 * Math.min(n, i + 256))])
  }
  let done = 0
  const other = []
  await each(tiles.length, async i => {
    const [path, hashes] = tiles[i]
    if (!same(new Uint8Array(await get(a, `${a.log}/${path}`, 'arrayBuffer')), hashes)) other[i] = path
    a.progress('tiles', ++done, tiles.length)
  })
  for (const path of other) if (path) wrong(a, T('Tile %s is not that of the leaves.', path))
}

// parse reads a leaf; null if its bytes are none.
function parse(b) {
  const view = new DataView(b.buffer, b.byteOffset, b.length)
  const int64 = at => Number(view.getBigInt64(at))
  if (b.length >= 9 && b[0] === 2) return {at: int64(1), text: new TextDecoder().decode(b.subarray(9))}
  if (b.length < 40 || b[0] !== 1 || b[37] > 1 || b[37] === 1 && b.length < 53) return null
  const from = b[37] === 1 ? 53 : 40
  const n = view.getUint16(from - 2)
  if (b.length !== from + 37 * n) return null
  return {
    version: Number(view.getBigUint64(1)), at: int64(9), part: view.getUint16(17), parts: view.getUint16(19),
    counts: [21, 25, 29, 33].map(at => view.getUint32(at)).join(' '),
    rules: b[37] === 1 ? {status: b[38], opens: int64(39), seats: view.getUint32(47)} : null,
    entries: Array.from({length: n}, (_, i) => {
      const at = from + 37 * i
      return {seat: view.getUint32(at), state: b[at + 4], commitment: b.subarray(at + 5, at + 37)}
    }),
  }
}

// replay plays all leaves, and gives the sale as it is then; null if one is no leaf.
async function replay(a) {
  const {report} = a
  const s = {seats: [], in: [0, 0, 0, 0, 0, 0], rules: {status: 0, opens: 0}, open: false, presale: false, version: -1, part: null, at: 0, rooms: new Set(), draws: new Map()}
  for (const [i, bytes] of a.leaves.entries()) {
    if (i % STEP === 0) await pause(0)
    const leaf = parse(bytes)
    if (!leaf) return wrong(a, T('Leaf %s: these bytes are no leaf of this log.', i)), null
    if (leaf.at < s.at - SKEW) wrong(a, T('Leaf %s is of %s, and stands behind one of %s: it was written later than it says.', i, moment(leaf.at), moment(s.at)))
    s.at = Math.max(s.at, leaf.at)
    if (leaf.entries) play(a, s, leaf, i)
    else state(a, s, leaf.text)
  }
  ;[report.versions, report.seats] = [s.version + 1, s.seats.length]
  if (s.part?.parts > 0 && s.part.part + 1 !== s.part.parts) wrong(a, T('The log ends within version %s.', s.version))
  ;[report.free, report.held, report.sold, report.blocked] = counts(s)
  if (a.shown && report.shown < 0) {
    if (a.shown.version > s.version) wrong(a, T('The house shows version %s of the map, and %s later its log ends with version %s.', a.shown.version, `${a.patience / 1000}s`, s.version))
    else wrong(a, T('The house shows version %s of the map, which is not in the log.', a.shown.version))
  }
  return s
}

// state takes in a statement.
function state(a, s, text) {
  const [word, ...lines] = text.split('\n')
  const fields = Object.fromEntries(lines.map(line => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]))
  if (word === 'presale') s.presale = true
  if (word !== 'draw') return
  const of = `${fields.room} ${fields.epoch}`, before = s.draws.get(of)
  if (before && before.to !== fields.commitment) wrong(a, T('Room %s committed to draw %s twice, to %s and to %s.', fields.room, fields.epoch, before.to, fields.commitment))
  s.rooms.add(fields.room)
  if (!before) s.draws.set(of, {to: fields.commitment, at: s.at})
}

// play takes in one part of a version.
function play(a, s, leaf, index) {
  const {part} = s
  const next = part?.parts > 0 && part.part + 1 < part.parts
  if (next && (leaf.version !== part.version || leaf.part !== part.part + 1 || leaf.parts !== part.parts || leaf.rules || part.entries.length !== PER_LEAF)) {
    wrong(a, T('Leaf %s is not the next part of version %s.', index, s.version))
  } else if (!next && (leaf.version !== s.version + 1 || leaf.part !== 0)) {
    wrong(a, T('Leaf %s is version %s, part %s, and the one before is version %s: a change is missing, or stands twice.', index, leaf.version, leaf.part, s.version))
  }
  ;[s.version, s.part] = [leaf.version, leaf]
  if (leaf.rules) {
    const {seats} = leaf.rules, had = s.seats.length
    if (seats < had || seats > 1 << 20) wrong(a, T('Version %s has %s seats, and there were %s.', leaf.version, seats, had))
    else {
      s.in[FREE] += seats - had
      while (s.seats.length < seats) s.seats.push({state: FREE, declared: false, version: 0, leaf: -1})
    }
    s.rules = leaf.rules
  }
  if (!s.open && s.rules.status === 1 && leaf.at >= s.rules.opens) openDoors(a, s, leaf)
  for (const entry of leaf.entries) change(a, s, leaf, entry, index)
  if (leaf.part + 1 !== leaf.parts) return
  const were = counts(s).join(' ')
  if (were !== leaf.counts) wrong(a, T('Version %s was shown with %s seats free, held, sold and blocked; they were %s.', leaf.version, leaf.counts, were))
  if (a.shown?.version === s.version) compareShown(a, s)
}

function openDoors({report}, s, leaf) {
  s.open = true
  report.doors = leaf.at
  const declared = s.seats.filter(seat => seat.declared)
  report.declared += declared.length
  report.earlyBlocks += declared.filter(seat => seat.state !== BLOCKED).length
}

// change takes one seat into its next state.
function change(a, s, leaf, entry, index) {
  const {version} = leaf, {report} = a, seat = s.seats[entry.seat]
  if (!seat || entry.state > BLOCKED) return wrong(a, T('Version %s names seat %s in state %s; there are %s seats and six states.', version, entry.seat, entry.state, s.seats.length))
  if (seat.version === version && version > 0) wrong(a, T('Version %s names seat %s twice.', version, entry.seat))
  else if ((entry.state === FREE) !== entry.commitment.every(byte => byte === 0)) wrong(a, T('Version %s has seat %s with the wrong number of holders.', version, entry.seat))
  else if (seat.state === SOLD && entry.state === SOLD) wrong(a, T('Seat %s was sold in version %s and sold again in version %s.', entry.seat, seat.version, version))
  else if (seat.state === SOLD && entry.state !== FREE) report.returned++
  if (entry.state === BLOCKED && seat.state !== BLOCKED && s.open) report.lateBlocks++
  if (!s.open) early(a, s, leaf, entry, seat)
  seat.declared = entry.state !== FREE && entry.state !== EXPIRED && (seat.declared || entry.state === BLOCKED && !s.open)
  s.in[seat.state]--
  s.in[entry.state]++
  ;[seat.state, seat.version, seat.leaf] = [entry.state, version, index]
}

// early judges a change before the doors open.
function early(a, s, leaf, entry, was) {
  if (![HELD, PAYING, SOLD].includes(entry.state) || was.declared || was.state === HELD || was.state === PAYING) return
  if (s.presale) return a.report.presale++
  const opens = s.rules.opens === -(2 ** 63) ? T('no time was set for them') : T('they opened at %s', moment(s.rules.opens))
  wrong(a, T('Seat %s was taken in version %s, at %s, before the doors opened (%s), and was in no block declared before.', entry.seat, leaf.version, moment(leaf.at), opens))
}

// counts are the seats as pages count them: free, held, sold, blocked.
const counts = ({in: n}) => [n[FREE] + n[EXPIRED], n[HELD] + n[PAYING], n[SOLD], n[BLOCKED]]

// compareShown holds the map of the house against the replay, when that has come to its version.
function compareShown(a, s) {
  const {states, counts: byCategory} = a.shown
  a.report.shown = s.version
  const all = ['free', 'held', 'sold', 'blocked'].map(name => byCategory.reduce((n, c) => n + c[name], 0)).join(' '), were = counts(s).join(' ')
  if (all !== were) wrong(a, T('The house shows %s seats free, held, sold and blocked at version %s; the log has %s.', all, s.version, were))
  if (states.length !== s.seats.length) return wrong(a, T('The house shows %s seats, the log has %s.', states.length, s.seats.length))
  for (const [i, seat] of s.seats.entries()) {
    const is = '010123'[seat.state]
    if (states[i] !== is) wrong(a, T('The house shows seat %s as %s at version %s; by the log it is %s.', i, states[i], s.version, is))
  }
}

// checkDraws holds the commitments of draws in the log against the records of the house.
async function checkDraws(a, s) {
  const [home] = a.log.split('/events/')
  for (const room of s.rooms) {
    const record = await get(a, `${home}/rooms/${encodeURIComponent(room)}/draw.json`, 'json', true)
    if (!record) {
      a.report.draws.push(T('Room %s committed to its draw, and shows no record of one yet.', room))
      continue
    }
    const committed = s.draws.get(`${room} ${record.epoch}`)
    const closed = microsOf(record.closed_at)
    if (!committed) wrong(a, T('Room %s shows the draw %s, and the log has no commitment to it.', room, record.epoch))
    else if (record.commitment !== committed.to) wrong(a, T('The draw of room %s is of the commitment %s, and the log has %s.', room, record.commitment, committed.to))
    else if (!closed) wrong(a, T('The draw of room %s does not say when its lobby closed.', room))
    else if (committed.at > closed) {
      wrong(a, T('The draw of room %s was committed to after its lobby closed: the commitment stands behind a leaf of %s, and it closed at %s.', room, moment(committed.at), moment(closed)))
    }
    for (const problem of (await verify(record)).wrong) wrong(a, T('The draw of room %s: %s', room, problem))
    if (closed) a.report.draws.push(T('Room %s drew %s numbers; its lobby closed at %s.', room, record.people, moment(closed)))
  }
}

// microsOf reads a time with its microseconds, which Date does not have; 0 if there is none.
function microsOf(time = '') {
  const [, second, fraction = '', zone] = time.match(/^([^.]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/) ?? []
  return second ? Date.parse(second + zone) * 1000 + +fraction.padEnd(6, '0').slice(0, 6) : 0
}

// checkTicket looks for the ticket: its code, and if it is the whole proof, its seat, salt and order.
function checkTicket(a, sale) {
  const {leaf: index, start, seat, salt, order} = a.ticket
  if (index >= a.leaves.length || !a.levels) return wrong(a, T('The ticket is not in the log: there is no leaf %s.', index))
  if (!same(a.levels[0].subarray(32 * index, 32 * index + start.length), start)) return wrong(a, T('The ticket is not in the log: leaf %s is another one.', index))
  const leaf = parse(a.leaves[index])
  const found = []
  for (const entry of leaf?.entries ?? []) {
    if (entry.state !== SOLD || seat && seat !== `${entry.seat}`) continue
    if (order && !same(commitment(salt, order), entry.commitment)) return wrong(a, T('Leaf %s sold seat %s to another order.', index, entry.seat))
    const later = sale?.seats[entry.seat]?.leaf ?? index
    if (later !== index) wrong(a, T('Seat %s was sold by leaf %s, and leaf %s changed it later.', entry.seat, index, later))
    found.push(entry.seat)
  }
  if (!found.length) return wrong(a, T('Leaf %s did not sell the seat of the ticket.', index))
  a.report.ticket = T('Leaf %s of %s sold seat %s.', index, moment(leaf.at), found.join(', '))
}
