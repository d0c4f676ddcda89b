// The drawing as numbers: where each seat is, what it costs, what it is called.

// sums undoes second-order differences: first value, first difference, then differences of differences; tenths of a unit.
function sums(coded, into, at) {
  let value = 0, step = 0
  coded.forEach((n, i) => {
    if (i === 0) value = n
    else value += step += n
    into[at + i] = value / 10
  })
}

function numbersOf(coded, n) {
  if (Array.isArray(coded)) return i => coded[i]
  const first = Number(coded.split('-')[0]), step = Number(coded.split('-')[1] ?? first) < first ? -1 : 1
  return i => String(first + i * step)
}

export function unpack(g) {
  const n = g.sections.reduce((most, s) => Math.max(most, s.first + s.count), 0)
  const house = {
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
  for (const [pos, flags] of Object.entries(r.f ?? {})) house.flags[at + Number(pos)] = flags
  house.row.fill(house.rows.length, at, at + count)
  house.rows.push({name: r.row, first: at, number: numbersOf(r.numbers, count)})
  return at + count
}

function box(outline) {
  const xs = outline.map(p => p[0]), ys = outline.map(p => p[1])
  return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)}
}

// pitch is the usual distance from a seat to the next one of its section.
function pitch(house, s) {
  if (s.area) return 0
  const gaps = []
  for (let i = s.first + 1; i < s.first + s.count; i++) {
    if (house.row[i] === house.row[i - 1]) gaps.push(Math.hypot(house.x[i] - house.x[i - 1], house.y[i] - house.y[i - 1]))
  }
  gaps.sort((a, b) => a - b)
  return gaps[gaps.length >> 1] || 20
}

export const numberOf = (house, idx) => house.rows[house.row[idx]].number(idx - house.rows[house.row[idx]].first)

// labelOf is the seat's label, as claims name it.
export const labelOf = (house, idx) => `${house.sections[house.section[idx]].name}/${house.rows[house.row[idx]].name}/${numberOf(house, idx)}`

export function wordsOf(house, idx) {
  const row = house.rows[house.row[idx]].name, own = row.length > 4 || row.includes(' ')
  return `${house.sections[house.section[idx]].name}, ${own ? row : `row ${row}`}, seat ${numberOf(house, idx)}`
}

export function inside(outline, x, y) {
  let yes = false
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [ax, ay] = outline[i], [bx, by] = outline[j]
    if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) yes = !yes
  }
  return yes
}
