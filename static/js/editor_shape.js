// Geometry of plans: boxes, hulls, curved rows, places in an area. Units are those of the plan, y points down, angles are
// degrees clockwise.

export const SPACING = 20, ROW_SPACING = 24
export const tenth = n => Math.round(n * 10) / 10
const RAD = Math.PI / 180

// boxOf is the smallest box around points [x, y]; undefined without any.
export function boxOf(points) {
  let box
  for (const [x, y] of points) {
    box ??= {left: x, right: x, top: y, bottom: y}
    box.left = Math.min(box.left, x)
    box.right = Math.max(box.right, x)
    box.top = Math.min(box.top, y)
    box.bottom = Math.max(box.bottom, y)
  }
  return box
}

export const middle = box => [(box.left + box.right) / 2, (box.top + box.bottom) / 2]

// mover moves points by dx, dy; turner turns them around a center. Both round as fine as maps draw.
export const mover = (dx, dy) => ([x, y]) => [tenth(x + dx), tenth(y + dy)]

export function turner([cx, cy], degrees) {
  const sin = Math.sin(degrees * RAD), cos = Math.cos(degrees * RAD)
  const turn = ([x, y]) => [tenth(cx + (x - cx) * cos - (y - cy) * sin), tenth(cy + (x - cx) * sin + (y - cy) * cos)]
  turn.degrees = degrees
  return turn
}

// pointsOf are the points by which a shape is as large as it is.
export function pointsOf(shape) {
  if (shape.points) return shape.points
  const [x, y] = shape.center ?? [0, 0]
  const w = shape.kind === 'text' ? shape.text.length * shape.size * .28 : Math.max(shape.rx, shape.ry), h = shape.kind === 'text' ? shape.size * .6 : w
  if (shape.kind === 'icon') return [[x - shape.size / 2, y - shape.size / 2], [x + shape.size / 2, y + shape.size / 2]]
  return [[x - w, y - h], [x + w, y + h]]
}

// corners of a rectangular table.
export function corners({center, size, rotation = 0}) {
  const [cx, cy] = center, [w, h] = [size[0] / 2, size[1] / 2]
  return [[-w, -h], [w, -h], [w, h], [-w, h]].map(([x, y]) => turner([0, 0], rotation)([x, y])).map(([x, y]) => [cx + x, cy + y])
}

// hull is the convex polygon around points, with some room.
export function hull(points, room = SPACING) {
  const grown = points.flatMap(([x, y]) => [[x - room, y - room], [x + room, y - room], [x + room, y + room], [x - room, y + room]])
  const sorted = grown.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const half = list => {
    const out = []
    for (const p of list) {
      while (out.length > 1 && cross(out.at(-2), out.at(-1), p) <= 0) out.pop()
      out.push(p)
    }
    return out.slice(0, -1)
  }
  return [...half(sorted), ...half(sorted.toReversed?.() ?? [...sorted].reverse())]
}

const cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

// line is where n seats of a row stand: side by side around a middle, at an angle (0: to the right), and bent by so many
// degrees from the first to the last, with its ends forward.
export function line({at: [x, y], n, spacing = SPACING, angle = 0, bend = 0}) {
  const sin = Math.sin(angle * RAD), cos = Math.cos(angle * RAD), length = (n - 1) * spacing
  const radius = bend && length ? length / (bend * RAD) : Infinity
  return Array.from({length: n}, (_, i) => {
    const t = i * spacing - length / 2
    const along = radius === Infinity ? t : radius * Math.sin(t / radius)
    const back = radius === Infinity ? 0 : -radius * (1 - Math.cos(t / radius))
    return [tenth(x + along * cos - back * sin), tenth(y + along * sin + back * cos)]
  })
}

// lineOf is the line that seats of a row stand on, as well as it can be told: the arguments of line.
export function lineOf(points) {
  const n = points.length, first = points[0], last = points[n - 1]
  if (n < 2) return {at: first, n, spacing: SPACING, angle: 0, bend: 0}
  const chord = Math.hypot(last[0] - first[0], last[1] - first[1]), angle = Math.atan2(last[1] - first[1], last[0] - first[0])
  const mid = n % 2 ? points[(n - 1) / 2] : [(points[n / 2 - 1][0] + points[n / 2][0]) / 2, (points[n / 2 - 1][1] + points[n / 2][1]) / 2]
  const [mx, my] = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2]
  const height = (mid[0] - mx) * -Math.sin(angle) + (mid[1] - my) * Math.cos(angle) // of the middle behind the chord
  const bend = chord ? 4 * Math.atan(2 * height / chord) / RAD : 0
  let length = 0
  for (let i = 1; i < n; i++) length += Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1])
  return {at: mid, n, spacing: tenth(length / (n - 1)), angle: tenth(angle / RAD), bend: Math.abs(bend) < .5 ? 0 : tenth(bend)}
}

// around is where n seats stand around a table: a round one, the first at the top, or a rectangular one, along its sides.
export function around({center: [x, y], radius, size, rotation = 0}, n) {
  const reach = .6 * SPACING, turn = turner([x, y], rotation)
  if (!size) {
    return Array.from({length: n}, (_, i) => {
      const a = 2 * Math.PI * i / n - Math.PI / 2
      return turn([x + (radius + reach) * Math.cos(a), y + (radius + reach) * Math.sin(a)])
    })
  }
  const [w, h] = size, list = []
  const counts = sides(w, h, n), at = (i, k, length) => length * ((i + .5) / k - .5)
  for (let i = 0; i < counts[0]; i++) list.push([x + at(i, counts[0], w), y - h / 2 - reach])
  for (let i = 0; i < counts[1]; i++) list.push([x + w / 2 + reach, y + at(i, counts[1], h)])
  for (let i = 0; i < counts[2]; i++) list.push([x - at(i, counts[2], w), y + h / 2 + reach])
  for (let i = 0; i < counts[3]; i++) list.push([x - w / 2 - reach, y - at(i, counts[3], h)])
  return list.map(turn)
}

// sides is how many of n seats stand at the top, right, bottom and left of a table: each where it has the most room.
export function sides(w, h, n) {
  const counts = [0, 0, 0, 0], length = [w, h, w, h]
  for (let i = 0; i < n; i++) {
    let best = 0
    for (let s = 1; s < 4; s++) if (length[s] / (counts[s] + 1) > length[best] / (counts[best] + 1) + 1e-9) best = s
    counts[best]++
  }
  return counts
}

// spread lays n places out inside a polygon, in level lines, each as dense as the others.
export function spread(polygon, n) {
  const box = boxOf(polygon), step = Math.sqrt(surface(polygon) / n) || 1
  const count = Math.max(1, Math.min(n, 2000, Math.round((box.bottom - box.top) / step)))
  const lines = Array.from({length: count}, (_, i) => {
    const y = box.top + (box.bottom - box.top) * (i + .5) / count, cuts = crossings(polygon, y)
    let length = 0
    for (let k = 0; k + 1 < cuts.length; k += 2) length += cuts[k + 1] - cuts[k]
    return {y, cuts, length}
  })
  const total = lines.reduce((sum, l) => sum + l.length, 0), places = []
  if (!total) return Array.from({length: n}, () => middle(box).map(tenth))
  let before = 0
  for (const l of lines) {
    before += l.length
    along(l, Math.round(before / total * n) - places.length, places)
  }
  return places
}

// along puts n places on a level line through a polygon.
function along({y, cuts, length}, n, places) {
  const step = length / n
  for (let k = 0; k < n; k++) {
    let at = step * (k + .5), i = 0
    while (i + 3 < cuts.length && at > cuts[i + 1] - cuts[i]) {
      at -= cuts[i + 1] - cuts[i]
      i += 2
    }
    places.push([tenth(Math.min(cuts[i] + at, cuts[i + 1])), tenth(y)])
  }
}

function crossings(polygon, y) {
  const cuts = []
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length]
    if (ay <= y !== by <= y) cuts.push(ax + (y - ay) / (by - ay) * (bx - ax))
  })
  return cuts.sort((a, b) => a - b)
}

export const surface = polygon => Math.abs(polygon.reduce((sum, [ax, ay], i) => {
  const [bx, by] = polygon[(i + 1) % polygon.length]
  return sum + ax * by - bx * ay
}, 0)) / 2
