// The proof that a ticket is in the public log of a sale, as docs/audit-log.md specifies it.

const encoder = new TextEncoder()
const unhex = hex => Uint8Array.from(hex.match(/../g) ?? [], b => parseInt(b, 16))
export const base64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
export const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])

// The constants of SHA-256 are the first bits of roots of the first primes.
const primes = []
for (let n = 2; primes.length < 64; n++) if (primes.every(p => n % p)) primes.push(n)
const bits = x => x % 1 * 4294967296 | 0
const K = Int32Array.from(primes, p => bits(Math.cbrt(p)))
const START = Int32Array.from(primes.slice(0, 8), p => bits(Math.sqrt(p)))
const W = new Int32Array(64)
const turn = (x, n) => x >>> n | x << 32 - n

// sha256 is the hash of parts, one behind the other. What browsers have takes five times as long for each of the 180,000 short hashes of a log:
// it is made for long ones, and answers later.
export function sha256(...parts) {
  const length = parts.reduce((n, part) => n + part.length, 0)
  const bytes = new Uint8Array((length + 8 >> 6) + 1 << 6), view = new DataView(bytes.buffer)
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0)
  bytes[length] = 128
  view.setUint32(bytes.length - 4, length * 8)
  const sum = START.slice()
  for (let from = 0; from < bytes.length; from += 64) {
    for (let i = 0; i < 16; i++) W[i] = view.getInt32(from + 4 * i)
    for (let i = 16; i < 64; i++) {
      const x = W[i - 15], y = W[i - 2]
      W[i] = W[i - 16] + W[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10)
    }
    let a = sum[0], b = sum[1], c = sum[2], d = sum[3], e = sum[4], f = sum[5], g = sum[6], h = sum[7]
    for (let i = 0; i < 64; i++) {
      const s = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + K[i] + W[i] | 0
      const t = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c)
      h = g, g = f, f = e, e = d + s | 0, d = c, c = b, b = a, a = s + t | 0
    }
    sum[0] += a, sum[1] += b, sum[2] += c, sum[3] += d, sum[4] += e, sum[5] += f, sum[6] += g, sum[7] += h
  }
  sum.forEach((x, i) => view.setInt32(4 * i, x))
  return bytes.slice(0, 32)
}

// commitment is that to the order of a seat, with its salt.
export const commitment = (salt, order) => sha256(encoder.encode('usher-log/holder/v1'), unhex(salt), unhex(order.replaceAll('-', '')))

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

// begins is what the hash of a leaf begins with by the letters of a code: Crockford's base 32 of 80 bits.
function begins(code) {
  const digits = [...code.toUpperCase().replace(/[^0-9A-Z]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')].map(c => letters.indexOf(c))
  if (digits.length !== 16 || digits.includes(-1)) return null
  const said = digits.map(d => d.toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(said.match(/.{8}/g), b => parseInt(b, 2))
}

// parsed are the parts of a code, or of a whole proof: code, seat, salt and order with a dot between them; null if it is neither.
export function parsed(typed) {
  const [code, seat, salt, order, ...more] = typed.trim().split('.')
  const cut = code.indexOf('-')
  const leaf = Number(code.slice(0, cut))
  const start = begins(code.slice(cut + 1))
  const is = cut > 0 && Number.isSafeInteger(leaf) && leaf >= 0 && start && (seat === undefined || order) && !more.length
  return is ? {leaf, start, seat, salt, order} : null
}

// tilePath is the address of a tile: its level or "entries", its number as tlog-tiles writes it, and what the tree has of it.
export function tilePath(kind, n, width) {
  let path = `${n % 1000}`.padStart(3, '0')
  for (n = Math.floor(n / 1000); n > 0; n = Math.floor(n / 1000)) path = `x${`${n % 1000}`.padStart(3, '0')}/${path}`
  return `tile/${kind}/${path}${width < 256 ? `.p/${width}` : ''}`
}

// signedBy reports whether this browser could check that a checkpoint is signed by a key. It throws if it is not.
export async function signedBy(key, text) {
  const [name, , ...parts] = key.trim().split('+')
  const bytes = base64(parts.join('+')) // base64 has it, too
  const [body, signatures = ''] = text.split('\n\n')
  const line = signatures.split('\n').find(l => l.startsWith(`— ${name} `))
  if (!line || bytes.length !== 33 || bytes[0] !== 1) throw new Error('checkpoint')
  let public_
  try {
    public_ = await crypto.subtle.importKey('raw', bytes.slice(1), {name: 'Ed25519'}, false, ['verify'])
  } catch {
    return false // this browser has no Ed25519
  }
  if (!await crypto.subtle.verify('Ed25519', public_, base64(line.split(' ')[2]).slice(4), encoder.encode(`${body}\n`))) throw new Error('signature')
  return true
}

// proven checks a code, or a whole proof. ask fetches a path below the log.
export async function proven(ask, typed) {
  const get = async path => {
    const answer = await ask(path)
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return answer
  }
  const wrong = {wrong: true}
  const found = parsed(typed)
  if (!found) return wrong
  const {leaf, start, seat, salt, order} = found
  const text = await (await get('checkpoint')).text()
  const signed = await signedBy(await (await get('key')).text(), text)
  const [, sized, rooted] = text.split('\n')
  const size = Number(sized)
  if (leaf >= size) return wrong

  const tiles = new Map()
  const tile = (kind, level, n) => {
    const width = Math.min(256, Math.floor(size / 256 ** level) - n * 256)
    const path = tilePath(kind, n, width)
    if (!tiles.has(path)) tiles.set(path, get(path).then(a => a.arrayBuffer()).then(b => new Uint8Array(b)))
    return tiles.get(path)
  }
  const hash = async (level, index) => (await tile(level, level, Math.floor(index / 256))).slice(index % 256 * 32, index % 256 * 32 + 32)
  // root is the hash over the leaves from one to another, made anew on the way to the leaf.
  const root = async (from, to) => {
    const n = to - from
    const level = Math.round(Math.log(n) / Math.log(256))
    if (256 ** level === n && (level === 0 || leaf < from || leaf >= to)) return hash(level, from / n)
    let half = 1
    while (half * 2 < n) half *= 2
    return sha256([1], await root(from, from + half), await root(from + half, to))
  }
  if (!same(await root(0, size), base64(rooted))) throw new Error('root')

  let bundle = await tile('entries', 0, Math.floor(leaf / 256))
  for (let i = leaf % 256; i > 0; i--) bundle = bundle.subarray(2 + bundle[0] * 256 + bundle[1])
  const bytes = bundle.slice(2, 2 + bundle[0] * 256 + bundle[1])
  const its = sha256([0], bytes)
  if (!same(its, await hash(0, leaf))) throw new Error('leaf')
  if (!same(its.slice(0, 10), start) || bytes[0] !== 1) return wrong
  const view = new DataView(bytes.buffer)
  let at = bytes[37] === 1 ? 51 : 38
  for (let n = view.getUint16(at), entry = at + 2; n > 0; n--, entry += 37) {
    if (bytes[entry + 4] !== 4 || seat && view.getUint32(entry) !== Number(seat)) continue
    if (!salt) return {leaf, size, signed}
    return same(commitment(salt, order), bytes.slice(entry + 5, entry + 37)) ? {leaf, size, signed, opened: true} : wrong
  }
  return wrong
}
