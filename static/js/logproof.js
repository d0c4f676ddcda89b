// The proof that a ticket is in the public log of a sale, as docs/audit-log.md specifies it.

const encoder = new TextEncoder()
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()))
const unhex = hex => Uint8Array.from(hex.match(/../g) ?? [], b => parseInt(b, 16))
const base64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

// begins is what the hash of a leaf begins with by the letters of a code: Crockford's base 32 of 80 bits.
function begins(code) {
  const digits = [...code.toUpperCase().replace(/[^0-9A-Z]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')].map(c => letters.indexOf(c))
  if (digits.length !== 16 || digits.includes(-1)) return null
  const bits = digits.map(d => d.toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g), b => parseInt(b, 2))
}

// named is the number of a tile as tlog-tiles writes it.
function named(n) {
  let path = `${n % 1000}`.padStart(3, '0')
  for (n = Math.floor(n / 1000); n > 0; n = Math.floor(n / 1000)) path = `x${`${n % 1000}`.padStart(3, '0')}/${path}`
  return path
}

async function signedBy(key, text) {
  const [name, , ...parts] = key.trim().split('+')
  const encoded = parts.join('+') // base64 has it, too
  const [body, signatures] = text.split('\n\n')
  const line = signatures.split('\n').find(l => l.startsWith(`— ${name} `))
  if (!line) throw new Error('checkpoint')
  let public_
  try {
    public_ = await crypto.subtle.importKey('raw', base64(encoded).slice(1), {name: 'Ed25519'}, false, ['verify'])
  } catch {
    return false // this browser has no Ed25519
  }
  if (!await crypto.subtle.verify('Ed25519', public_, base64(line.split(' ')[2]).slice(4), encoder.encode(`${body}\n`))) throw new Error('signature')
  return true
}

// proven checks a code, or a whole proof: code, seat, salt and order with a dot between them. ask fetches a path below the log.
export async function proven(ask, typed) {
  const get = async path => {
    const answer = await ask(path)
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return answer
  }
  const [code, seat, salt, order] = typed.trim().split('.')
  const cut = code.indexOf('-')
  const leaf = Number(code.slice(0, cut))
  const start = begins(code.slice(cut + 1))
  const wrong = {wrong: true}
  if (cut < 1 || !Number.isSafeInteger(leaf) || leaf < 0 || !start) return wrong
  const text = await (await get('checkpoint')).text()
  const signed = await signedBy(await (await get('key')).text(), text)
  const [, sized, rooted] = text.split('\n')
  const size = Number(sized)
  if (leaf >= size) return wrong

  const tiles = new Map()
  const tile = (kind, level, n) => {
    const width = Math.min(256, Math.floor(size / 256 ** level) - n * 256)
    const path = `tile/${kind}/${named(n)}${width < 256 ? `.p/${width}` : ''}`
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
    return sha256(new Uint8Array([1]), await root(from, from + half), await root(from + half, to))
  }
  if (!same(await root(0, size), base64(rooted))) throw new Error('root')

  let bundle = await tile('entries', 0, Math.floor(leaf / 256))
  for (let i = leaf % 256; i > 0; i--) bundle = bundle.subarray(2 + bundle[0] * 256 + bundle[1])
  const bytes = bundle.slice(2, 2 + bundle[0] * 256 + bundle[1])
  const its = await sha256(new Uint8Array([0]), bytes)
  if (!same(its, await hash(0, leaf))) throw new Error('leaf')
  if (!same(its.slice(0, 10), start) || bytes[0] !== 1) return wrong
  const view = new DataView(bytes.buffer)
  let at = bytes[37] === 1 ? 51 : 38
  for (let n = view.getUint16(at), entry = at + 2; n > 0; n--, entry += 37) {
    if (bytes[entry + 4] !== 4 || seat && view.getUint32(entry) !== Number(seat)) continue
    if (!salt) return {leaf, size, signed}
    const holder = await sha256(encoder.encode('usher-log/holder/v1'), unhex(salt), unhex(order.replaceAll('-', '')))
    return same(holder, bytes.slice(entry + 5, entry + 37)) ? {leaf, size, signed, opened: true} : wrong
  }
  return wrong
}
