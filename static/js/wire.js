// The messages of the live map. All numbers are little endian or unsigned LEB128.

export const HELLO = 1, SNAP = 2, DELTA = 3, PING = 6, PONG = 7

class Reader {
  constructor(buffer) {
    this.bytes = new Uint8Array(buffer)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    this.at = 0
  }
  get more() { return this.at < this.bytes.length }
  byte() {
    if (!this.more) throw new RangeError('the message ends too early')
    return this.bytes[this.at++]
  }
  uint32() { this.at += 4; return this.view.getUint32(this.at - 4, true) }
  float() { this.at += 8; return this.view.getFloat64(this.at - 8, true) }
  uvarint() {
    let n = 0, scale = 1
    for (;;) {
      const b = this.byte()
      n += (b & 127) * scale
      if (b < 128) return n
      if ((scale *= 128) > 2 ** 49) throw new RangeError('a number is too long')
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

// decode reads one message; a type it does not know has only its type and epoch.
export function decode(buffer) {
  const r = new Reader(buffer)
  const m = {type: r.byte(), epoch: r.uint32()}
  switch (m.type) {
    case HELLO: return {...m, version: r.uvarint(), now: r.float(), tick: r.uvarint()}
    case SNAP: return {...m, ...snapshot(r)}
    case DELTA: return {...m, from: r.uvarint(), to: r.uvarint(), counts: r.counts(), ...changes(r)}
    case PONG: return {...m, sent: r.float(), now: r.float()}
  }
  return m
}

function snapshot(r) {
  const version = r.uvarint(), n = r.uvarint(), counts = r.counts()
  if (r.bytes.length - r.at < Math.ceil(n / 4)) throw new RangeError('the map ends too early')
  const states = new Uint8Array(n)
  for (let i = 0; i < n; i++) states[i] = r.bytes[r.at + (i >> 2)] >> (2 * (i & 3)) & 3
  return {version, counts, states}
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
