// The proof that a ticket is in the public log of a sale, as docs/audit-log.md specifies it.

const encoder = new TextEncoder()
const unhex = hex => Uint8Array.from(hex.match(/../g) ?? [], b => parseInt(b, 16))
export const base64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
export const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])

// sha256 is the hash of parts, one behind the other.
export async function sha256(...parts) {
  const joined = new Uint8Array(parts.reduce((n, part) => n + part.length, 0))
  parts.reduce((at, part) => (joined.set(part, at), at + part.length), 0)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined))
}

// commitment is that to the order of a seat, with its salt.
export const commitment = (salt, order) => sha256(encoder.encode('usher-log/holder/v1'), unhex(salt), unhex(order.replaceAll('-', '')))

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

// begins is what the hash of a leaf begins with by the letters of a code: Crockford's base 32 of 80 bits.
function begins(code) {
  const digits = [...code.toUpperCase().replace(/[^0-9A-Z]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')].map(c => letters.indexOf(c))
  if (digits.length !== 16 || digits.includes(-1)) return null
  const bits = digits.map(d => d.toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g), b => parseInt(b, 2))
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
  const its = await sha256([0], bytes)
  if (!same(its, await hash(0, leaf))) throw new Error('leaf')
  if (!same(its.slice(0, 10), start) || bytes[0] !== 1) return wrong
  const view = new DataView(bytes.buffer)
  let at = bytes[37] === 1 ? 51 : 38
  for (let n = view.getUint16(at), entry = at + 2; n > 0; n--, entry += 37) {
    if (bytes[entry + 4] !== 4 || seat && view.getUint32(entry) !== Number(seat)) continue
    if (!salt) return {leaf, size, signed}
    return same(await commitment(salt, order), bytes.slice(entry + 5, entry + 37)) ? {leaf, size, signed, opened: true} : wrong
  }
  return wrong
}
