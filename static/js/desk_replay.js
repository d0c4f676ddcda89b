// The sale once more: every change that anybody could see, and when. The form is that of seats/sales/replay.go.

class Bytes {
  constructor(buffer) {
    this.bytes = new Uint8Array(buffer)
    this.at = 0
  }
  get more() { return this.at < this.bytes.length }
  next() {
    let n = 0, scale = 1
    for (;;) {
      if (!this.more) throw new Error('the replay ends too early')
      const b = this.bytes[this.at++]
      n += (b & 127) * scale
      if (b < 128) return n
      scale *= 128
    }
  }
}

// Replay knows the state of every seat after any of its changes.
export class Replay {
  position = 0 // changes that are applied
  constructor(buffer) {
    const r = new Bytes(buffer)
    if (r.next() !== 1) throw new Error('a replay of another form')
    this.n = r.next()
    const times = [], ends = [], idxs = [], states = []
    let most = this.n
    let now = r.next()
    while (r.more) {
      now += r.next() * 10
      times.push(now)
      for (let k = r.next(), idx = 0; k > 0; k--) {
        const entry = r.next()
        idx += Math.floor(entry / 4)
        idxs.push(idx)
        most = Math.max(most, idx + 1)
        states.push(entry % 4)
      }
      ends.push(idxs.length)
    }
    this.n = most // the house may have grown meanwhile
    this.states = new Uint8Array(this.n)
    this.soldAt = new Float64Array(this.n) // ms since 1970; 0 for a seat that is not sold
    this.counts = [this.n, 0, 0, 0]
    this.times = Float64Array.from(times)
    this.ends = Uint32Array.from(ends)
    this.idxs = Uint32Array.from(idxs)
    this.to = Uint8Array.from(states)
  }

  get length() { return this.times.length }
  get time() { return this.times[Math.max(0, this.position - 1)] ?? 0 }
  get over() { return this.position >= this.length }

  // seek goes to the state after so many changes, and returns the seats that look different; null for perhaps all.
  seek(position) {
    const to = Math.min(Math.max(0, Math.round(position)), this.length), back = to < this.position
    if (back) {
      this.states.fill(0)
      this.soldAt.fill(0)
      this.counts = [this.n, 0, 0, 0]
      this.position = 0
    }
    const first = this.position ? this.ends[this.position - 1] : 0, end = to ? this.ends[to - 1] : 0, {counts} = this
    for (let i = first, change = this.position; i < end; i++) {
      while (this.ends[change] <= i) change++
      const idx = this.idxs[i], state = this.to[i]
      counts[this.states[idx]]--
      counts[state]++
      this.states[idx] = state
      this.soldAt[idx] = state === 2 ? this.times[change] : 0
    }
    this.position = to
    return back ? null : this.idxs.subarray(first, end)
  }

  // until is how many changes there were up to a time.
  until(time) {
    let low = 0, high = this.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.times[middle] <= time) low = middle + 1
      else high = middle
    }
    return low
  }
}
