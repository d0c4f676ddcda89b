// The draw of a waiting room, done again: who got which number follows from a secret that was committed to before, a
// public random number that came after, and how many people there were. The same as seats/waitingroom/draw.go says in Go.

import {T} from 'usher/text'

const bytes = hex => Uint8Array.from(hex?.match(/../g) ?? [], b => parseInt(b, 16))
const hex = buffer => Array.from(new Uint8Array(buffer), b => b.toString(16).padStart(2, '0')).join('')
const sha256 = data => crypto.subtle.digest('SHA-256', data)

// number is n in some bytes, the highest first.
function number(n, size) {
  const b = new Uint8Array(size)
  for (let i = size - 1; i >= 0; i--, n = Math.floor(n / 256)) b[i] = n % 256
  return b
}

const joined = (...parts) => new Blob(parts).arrayBuffer()

// commitment is published before the lobby opens.
export const commitment = async r => hex(await sha256(await joined('usher/draw/v1', number(r.room, 8), number(r.epoch, 4), bytes(r.secret))))

// seed is what the numbers are shuffled with.
export async function seed(r) {
  const beacon = bytes(r.beacon.value)
  return hex(await sha256(await joined('seed/v1', bytes(r.secret), number(beacon.length, 4), beacon, number(r.people, 8), number(r.room, 8), number(r.epoch, 4))))
}

// reduce brings a random word below limit, all values equally likely; -1 refuses a word that would make some likelier.
export function reduce(word, limit) {
  if ((Math.imul(word, limit) >>> 0) < 4294967296 % limit) return -1
  const high = (word >>> 16) * limit + Math.floor((word & 65535) * limit / 65536)
  return Math.floor(high / 65536)
}

const CHUNK = 1 << 16 // bytes asked for at once

// words are those of AES-256 in counter mode, as many as fit a chunk.
async function words(key, chunk) {
  const counter = new Uint8Array(16)
  new DataView(counter.buffer).setUint32(12, chunk * (CHUNK / 16))
  return new DataView(await crypto.subtle.encrypt({name: 'AES-CTR', counter, length: 64}, key, new Uint8Array(CHUNK)))
}

// numbers is the whole draw: the place with index i in the lobby, from 1 on, has number numbers[i - 1], from 1 on.
export async function numbers(seed, people) {
  const key = await crypto.subtle.importKey('raw', bytes(seed), 'AES-CTR', false, ['encrypt'])
  const table = Uint32Array.from({length: people}, (_, i) => i + 1)
  for (let i = people - 1, chunk = 0; i > 0; chunk++) {
    const view = await words(key, chunk)
    for (let at = 0; at < CHUNK && i > 0; at += 4) {
      const j = reduce(view.getUint32(at), i + 1)
      if (j < 0) continue
      const n = table[i]
      table[i] = table[j]
      table[j] = n
      i--
    }
  }
  return table
}

// sum is one word for a whole table of numbers.
export async function sum(table) {
  const view = new DataView(new ArrayBuffer(4 * table.length))
  table.forEach((n, i) => view.setUint32(4 * i, n))
  return hex(await sha256(view))
}

// verify does the draw of a record again. It gives what does not hold, in a sentence each, and the numbers.
export async function verify(r) {
  const wrong = []
  if (r.format !== 'usher/draw/v1' || !(r.people <= 1 << 26)) return {wrong: [T('The record is in a format that this page does not know.')]}
  if (await commitment(r) !== r.commitment) wrong.push(T('The secret is not the one that was committed to.'))
  if (r.beacon.kind === 'none' && r.beacon.value) wrong.push(T('The record names no beacon, but has a value of one.'))
  if (r.beacon.kind === 'drand' && r.beacon.signature && hex(await sha256(bytes(r.beacon.signature))) !== r.beacon.value) {
    wrong.push(T('The random number is not the one of its signature.'))
  }
  if (await seed(r) !== r.seed) wrong.push(T('The seed does not follow from the secret, the random number and the people.'))
  const table = await numbers(await seed(r), r.people)
  if (await sum(table) !== r.sum) wrong.push(T('The numbers are not those that the seed gives.'))
  return {wrong, table}
}
