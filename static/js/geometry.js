// The drawing as numbers: where each seat is, what it costs, what it is called.

// sums undoes second-order differences: first value, first difference, then differences of differences; tenths of a unit.
function sums(coded, into, at) {
  let value = coded[0], step = 0
  into[at] = value / 10
  for (let i = 1; i < coded.length; i++) {
    value += step += coded[i]
    into[at + i] = value / 10
  }
}

export function unpack(g) {
  const n = g.sections.reduce((most, s) => Math.max(most, s.first + s.count), 0)
  const house = {
    here: s => house.floor === undefined || house.floor === (s.floor ?? 0), // one floor is seen at a time, or all are
    w: g.w / 10, h: g.h / 10, n, categories: g.categories, x: new Float32Array(n), y: new Float32Array(n),
    category: new Uint8Array(n), flags: new Uint8Array(n), section: new Uint16Array(n), row: new Uint32Array(n), rows: [],
  }
  house.sections = g.sections.map((s, i) => {
    let at = s.first
    house.section.fill(i, s.first, s.first + s.count)
    for (const r of s.rows ?? []) at = unpackRow(house, r, at)
    const outline = s.outline.map(p => [p[0] / 10, p[1] / 10])
    return {...s, outline, rows: undefined, ...box(outline), pitch: pitch(house, s)}
  })
  return house
}

function unpackRow(house, r, at) {
  const count = r.x.length
  sums(r.x, house.x, at)
  sums(r.y, house.y, at)
  for (let i = 0, from = at; i + 1 < r.c.length; from += r.c[i + 1], i += 2) house.category.fill(r.c[i], from, from + r.c[i + 1])
  for (const pos in r.f) house.flags[at + Number(pos)] = r.f[pos]
  house.row.fill(house.rows.length, at, at + count)
  house.rows.push({name: r.row, first: at, numbers: r.numbers, whole: r.whole && count, party: r.party})
  return at + count
}

function box(outline) {
  const xs = outline.map(p => p[0]), ys = outline.map(p => p[1])
  return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)}
}

const ENOUGH = 200 // seats of a section that tell how far apart they are

// pitch is the usual distance from a seat to the next one of its section.
function pitch(house, s) {
  if (s.area) return 0
  const gaps = []
  for (let i = s.first + 1; i < s.first + Math.min(s.count, ENOUGH); i++) {
    const dx = house.x[i] - house.x[i - 1], dy = house.y[i] - house.y[i - 1]
    if (house.row[i] === house.row[i - 1]) gaps.push(dx * dx + dy * dy)
  }
  return Math.sqrt(Float64Array.from(gaps).sort()[gaps.length >> 1]) || 20
}

// numberOf is what stands on a seat. A row that counts up says only from where to where.
export function numberOf(house, idx) {
  const {numbers, first} = house.rows[house.row[idx]], i = idx - first
  return Array.isArray(numbers) ? numbers[i] : `${parseInt(numbers) + i}`
}

// together lists the seats that are sold with a seat: those of its row if that is sold as a whole.
export function together(house, idx) {
  const {first, whole} = house.rows[house.row[idx]] ?? {}
  return whole && !house.sections[house.section[idx]].area ? Array.from({length: whole}, (_, i) => first + i) : [idx]
}

// labelOf is the seat's label, as claims name it.
export const labelOf = (house, idx) => `${house.sections[house.section[idx]].name}/${house.rows[house.row[idx]].name}/${numberOf(house, idx)}`

export function inside(outline, x, y) {
  let yes = false
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [ax, ay] = outline[i], [bx, by] = outline[j]
    if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) yes = !yes
  }
  return yes
}
