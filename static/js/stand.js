// Where one person stands in a waiting room, of what everybody is told and what is theirs. handlers/shop/room.go, views/shop/room.go
// and seats/waitingroom/estimate.go say the same in Go; handlers/shop/testdata/room.json holds both to it.

import {T, number} from 'usher/text'

export {number}

// before is how many people are before a number.
export function before(ahead, number) {
  for (let i = 1; i < ahead.length; i++) {
    const [a, n] = ahead[i - 1], [b, m] = ahead[i]
    if (number <= b) return n + Math.floor(Math.max(0, number - a - 1) * (m - n) / (b - a))
  }
  const [a, n] = ahead.at(-1) ?? [0, 0] // joined after this was published, or nothing was yet
  return n + Math.max(0, number - a - 1)
}

// seconds is how long so many people take to come in, about; nothing if that is not known. It says how often to ask.
export function seconds({rate, leave}, people) {
  if (!(rate > 0)) return undefined
  const s = people / rate
  const wait = leave > 0 ? Math.log1p(leave * s) / leave : s
  return wait > 86400 ? undefined : wait
}

// time is a time of day on the clock of the event's place, exactly to the second.
const time = (at, zone, second) => new Date(at).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit', second, timeZone: zone})
export const exactly = (at, zone) => time(at, zone, '2-digit')

// promised is between which times a number is called, in whole minutes; nothing if there is no promise, or its time is over.
export function promised({waits = [], waits_at: at}, number, now) {
  const i = waits.findIndex(([last]) => number <= last), [b, a] = [waits[i], waits[i - 1]]
  if (!b || !at) return undefined
  const second = k => Date.parse(at) / 1000 + (a ? a[k] + Math.floor((number - a[0]) * (b[k] - a[k]) / (b[0] - a[0])) : b[k])
  const from = Math.floor(second(1) / 60) * 60e3, to = Math.ceil(second(2) / 60) * 60e3
  return to > now ? {from, to} : undefined
}

// words are such a promise.
export function words(promise, now, zone) {
  if (!promise) return T('not known yet')
  const low = Math.floor((promise.from - now) / 60e3), high = Math.ceil((promise.to - now) / 60e3)
  if (low < 1) return T('by %s (up to %d min)', time(promise.to, zone), high)
  return T('between %s and %s (%d–%d min)', time(promise.from, zone), time(promise.to, zone), low, high)
}

// people is how many are in the draw: the reader is one, also before they were counted.
export const people = s => number(s.lobby || 1)

export const chance = (s, number) => !s.ahead?.length ? 'not known yet' : number <= s.likely ? 'likely' : number <= s.maybe ? 'uncertain' : 'unlikely'

// advice is what a chance means for the visitor.
export const advice = seat => ({
  uncertain: T('It depends on how many seats the people before you take.'),
  unlikely: T('The people before you will probably take what is left. You may stay: held seats can come back.'),
}[seat] ?? '')

// moved says when numbers were called last.
export const moved = (s, zone) => s.moved_at ? T('since %s', exactly(s.moved_at, zone)) : ''

// left says what there is to hope for while no seat is free.
export function left(s, zone) {
  if (s.free > 0) return ''
  if (s.held > 0 && s.next_ends) return T('No seat is free. The next hold ends at %s; if its seats come back, the next in line is let in.', exactly(s.next_ends, zone))
  if (s.held > 0) return T('No seat is free. If a held one comes back, the next in line is let in.')
  return T('No seat is free or held.')
}

// stands is the visitor's state at a time of the server's clock. called is the outcome of their try to come in.
export function stands(s, {kind, number, called}, now) {
  const early = s.phase === 'lobby' && s.lobby_opens_at && Date.parse(s.lobby_opens_at) > now
  if (called === 'inside' || s.phase === 'through') return 'inside'
  if (s.phase === 'ended') return 'ended'
  if (early) return 'early'
  if (s.phase === 'paused') return 'paused'
  if (s.phase === 'open' && s.free === 0 && s.held === 0 && s.sold > 0) return 'soldout'
  if (!kind) return 'join'
  if (s.phase === 'lobby') return 'lobby'
  if (!number) return 'drawing'
  return number <= s.serving ? called || 'called' : 'waiting'
}

// newer is the later one of two answers: an answer that a cache kept too long is ignored.
export const newer = (next, shown) =>
  next.epoch === shown.epoch && (next.v > shown.v || next.v === shown.v && !(Date.parse(next.at) < Date.parse(shown.at))) ? next : shown

// near reports whether the visitor is worth a socket. A node has some thousands for those who are next; if all of two million
// tried, that would be as much work as it saves.
export const near = (s, people) => s.lobby + s.line - s.serving < 1e5 || people < 15e3

// every is when to ask again, in seconds. Who is about to be called asks each 3 s, so that they learn within five what they
// wait for: their turn, or that it is sold out. All others keep one pace before, at and after the opening, so that it brings
// no wave: as many questions a second as --looks-per-second allows, one each 3 s at most, and one each 30 s at least. Who
// waits long asks less often while seats are free, down to a fourth. While none is, it may be sold out at any moment and
// hardly anybody claims: then ten times as many are allowed. random is between 0 and 1.
export function every(s, state, wait, random = Math.random()) {
  const some = seconds => seconds * (0.8 + 0.4 * random)
  const looks = (s.looks ?? 1000) * (s.phase === 'open' && s.free === 0 ? 10 : 1)
  const pace = Math.min(30, Math.max(3, (s.lobby + s.line - s.serving) / looks))
  if (state === 'called' || state === 'next' || state === 'waiting' && wait < 20) return some(3)
  if (state === 'waiting' && wait !== undefined && s.free > 0) return some(Math.min(60, 4 * pace, Math.max(pace, wait / 10)))
  return some(pace)
}

// sampled reports whether this page is one of those that say they are there in a window.
export async function sampled(s, {kind, index}, window) {
  const view = new DataView(new ArrayBuffer(29))
  view.setBigUint64(0, BigInt(s.room))
  view.setUint32(8, s.epoch)
  view.setUint8(12, kind)
  view.setBigUint64(13, BigInt(index))
  view.setBigUint64(21, BigInt(window))
  const sum = new DataView(await crypto.subtle.digest('SHA-256', view))
  return sum.getUint32(0) / 4294967296 < s.beat
}
