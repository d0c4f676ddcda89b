// The messages of the live map. All numbers are little endian or unsigned LEB128.

export const HELLO = 1, SNAP = 2, DELTA = 3, AUDIT = 4, RESYNC = 5, PING = 6, PONG = 7, MOVE = 8, MINE = 9

// The version of the format, and why a page asks for the whole map: a delta starts too late, an audit failed.
export const FORMAT = 1, GAP = 1, DIVERGED = 2

// WireError is all that decode throws: these bytes are no message.
export class WireError {}

class Reader {
  constructor(buffer) {
    this.bytes = new Uint8Array(buffer)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    this.at = 0
  }
  get more() { return this.at < this.bytes.length }
  // take is where the next n bytes begin.
  take(n) {
    if (this.bytes.length - this.at < n) throw new WireError // the message ends too early
    this.at += n
    return this.at - n
  }
  byte() { return this.bytes[this.take(1)] }
  uint32() { return this.view.getUint32(this.take(4), true) }
  float() { return this.view.getFloat64(this.take(8), true) }
  uvarint() {
    let n = 0, scale = 1
    for (;;) {
      const b = this.byte()
      n += (b & 127) * scale
      if (b < 128) return n
      if ((scale *= 128) > 2 ** 49) throw new WireError // it is too long
    }
  }
  // counts are free, held, sold and blocked seats of each category.
  counts() {
    const counts = []
    for (let k = this.uvarint(); k > 0; k--) {
      counts.push({free: this.uvarint(), held: this.uvarint(), sold: this.uvarint(), blocked: this.uvarint()})
    }
    return counts
  }
}

// decode reads one message; of a type it does not know, r reads the rest.
export function decode(buffer) {
  const r = new Reader(buffer)
  const m = {type: r.byte(), epoch: r.uint32()}
  switch (m.type) {
    case HELLO: return {...m, version: r.uvarint(), now: r.float(), tick: r.uvarint(), format: r.more ? r.byte() : 1}
    case SNAP: return {...m, ...snapshot(r)}
    case DELTA: return {...m, from: r.uvarint(), to: r.uvarint(), counts: r.counts(), ...changes(r)}
    case AUDIT: return {...m, version: r.uvarint(), sum: r.uint32()}
    case MOVE: return {...m, within: r.uvarint()}
    case MINE: return {...m, deadline: r.uvarint(), extensions: r.uvarint(), idx: seats(r)}
    case PONG: return {...m, sent: r.float(), now: r.float()}
  }
  return {...m, r}
}

function snapshot(r) {
  const version = r.uvarint(), n = r.uvarint(), counts = r.counts()
  const at = r.take(Math.ceil(n / 4)), states = new Uint8Array(n)
  for (let i = 0; i < n; i++) states[i] = r.bytes[at + (i >> 2)] >> (2 * (i & 3)) & 3
  return {version, counts, states}
}

function seats(r) {
  const idx = []
  let last = 0
  for (let k = r.uvarint(); k > 0; k--) idx.push(last += r.uvarint())
  return idx
}

function changes(r) {
  const idx = [], state = []
  for (let last = 0; r.more;) {
    const n = r.uvarint()
    last += Math.floor(n / 4)
    idx.push(last)
    state.push(n % 4)
  }
  return {idx, state}
}

export function ping(epoch, sent) {
  const b = new DataView(new ArrayBuffer(13))
  b.setUint8(0, PING)
  b.setUint32(1, epoch, true)
  b.setFloat64(5, sent, true)
  return b.buffer
}

// wanted asks for the whole map, and says why, and what this page has.
export function wanted(reason, {epoch, version, sum = 0}) {
  const b = new Uint8Array(20), view = new DataView(b.buffer)
  b[0] = RESYNC
  view.setUint32(1, epoch, true)
  b[5] = reason
  const end = uvarint(b, 6, Math.max(0, version))
  view.setUint32(end, sum, true)
  return b.slice(0, end + 4).buffer
}

function uvarint(bytes, at, n) {
  for (; n > 127; n = Math.floor(n / 128)) bytes[at++] = n % 128 | 128
  bytes[at++] = n
  return at
}

// checksum is the CRC-32 of a map as a SNAP has it after its version.
export function checksum({states, counts}) {
  const n = states.length, b = new Uint8Array(20 + 40 * counts.length + n / 4 + 1)
  let at = uvarint(b, uvarint(b, 0, n), counts.length)
  for (const c of counts) for (const k of [c.free, c.held, c.sold, c.blocked]) at = uvarint(b, at, k)
  for (let i = 0; i < n; i++) b[at + (i >> 2)] |= states[i] << 2 * (i & 3)
  return crc32(b.subarray(0, at + Math.ceil(n / 4)))
}

function crc32(bytes) {
  let crc = -1
  for (const b of bytes) {
    crc ^= b
    for (let k = 0; k < 8; k++) crc = crc >>> 1 ^ (crc & 1 && 0xedb88320)
  }
  return ~crc >>> 0
}
