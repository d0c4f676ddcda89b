// Random plans and random edits of them, the same for the same seed.

export function dice(seed) {
  let s = Math.imul(seed, 2654435761) >>> 0 || 1
  const next = () => { // xorshift32
    s ^= s << 13
    s >>>= 0
    s ^= s >>> 17
    s ^= s << 5
    s >>>= 0
    return s / 4294967296
  }
  for (let i = 0; i < 20; i++) next() // seeds that are alike begin alike
  const below = n => Math.floor(next() * n)
  return {below, between: (a, b) => a + below(b - a + 1), one: list => list[below(list.length)], chance: p => next() < p, some: (list, p) => list.filter(() => next() < p)}
}

// randomDocument is a plan of the open format with some of everything.
export function randomDocument(d) {
  const categories = Array.from({length: d.between(1, 4)}, (_, i) => ({key: 'ABCD'[i], name: `Category ${i}`, ...d.chance(.5) && {color: '#7a1f3d'}, price: d.below(9000)}))
  const key = () => d.one(categories).key
  let n = 0
  const seat = (number, x, y) => ({id: `s${n++}`, number: String(number), x, y, ...d.chance(.2) && {category: key()}, ...d.chance(.15) && {flags: d.some(['accessible', 'companion', 'restricted-view', 'aisle-after'], .5)}})
  const clean = s => {
    if (s.flags && !s.flags.length) delete s.flags
    return s
  }
  const sections = Array.from({length: d.between(1, 4)}, (_, i) => {
    const left = i * 400, s = {name: `Part ${i}`, category: key()}
    if (d.chance(.6)) s.outline = [[left, 0], [left + 380, 0], [left + 380, 380], [left, 380]]
    if (d.chance(.2)) {
      const places = Array.from({length: d.between(1, 30)}, (_, k) => seat(k + 1, left + 10 * (k % 6) + 40, 40 + 10 * Math.floor(k / 6)))
      return {...s, area: {capacity: places.length, places: places.map(clean)}}
    }
    if (d.chance(.15)) s.generate = [{rows: ['A', 'B'], origin: [left + 200, 60], angle: 90, blocks: [[-80, 80]]}]
    s.rows = Array.from({length: d.between(1, 5)}, (_, r) => ({row: 'ABCDE'[r], seats: Array.from({length: d.between(1, 12)}, (_, k) => clean(seat(k + 1, left + 20 * k + 30.5, 60 + 24 * r)))}))
    if (d.chance(.3)) s.tables = Array.from({length: d.between(1, 3)}, (_, t) => table(d, t, left, seat, clean))
    return s
  })
  const shapes = [
    {kind: 'polygon', role: 'stage', points: [[100, 0], [300, 0], [200, 20.25]]}, {kind: 'line', role: 'wall', points: [[0, 0], [0, 400]]},
    {kind: 'ellipse', role: 'other', center: [50, 300], rx: 20, ry: 10, rotation: 30}, {kind: 'text', role: 'label', center: [200, 20], text: 'Stage “Ö”', size: 14},
  ]
  return {format: 'usher-plan/1', name: 'Random', width: 1700, height: 900, ...d.chance(.5) && {focus: [200, 0]}, categories, sections, ...d.chance(.8) && {shapes: d.some(shapes, .7)}}
}

function table(d, t, left, seat, clean) {
  const center = [left + 60 + 100 * t, 300], round = d.chance(.5)
  const seats = Array.from({length: d.between(2, 6)}, (_, k) => clean(seat(k + 1, center[0] + 30 * Math.cos(k), center[1] + 30 * Math.sin(k))))
  return {table: `Table ${t + 1}`, center, ...round ? {radius: 20} : {size: [50, 30], ...d.chance(.5) && {rotation: 45}}, seats}
}

// randomEdit does one edit with the editor's own functions; m has all of them.
export function randomEdit(m, d, plan, mint) {
  const all = [...m.index(plan).keys()], keys = chosen(m, d, plan, all)
  const section = plan.sections.length ? d.one(plan.sections) : undefined, key = section?.[m.KEY], category = d.one(plan.categories)
  const edits = [
    () => m.move(plan, keys, d.between(-50, 50), d.between(-50, 50)),
    () => m.turn(plan, keys, d.between(-180, 180)),
    () => m.align(plan, keys, d.one(['left', 'right', 'center', 'top', 'bottom', 'middle'])),
    () => m.distribute(plan, keys, d.chance(.5)),
    () => m.layRows(plan, keys, d.one([{n: d.between(1, 20)}, {bend: d.between(-60, 60)}, {spacing: 22}, {angle: d.between(-90, 90)}]), mint),
    () => m.remove(plan, d.chance(.5) ? keys : new Set(d.some(all, .02))),
    () => m.duplicate(plan, keys, 20, 20, mint),
    () => m.setCategory(plan, keys, category.key),
    () => m.setFlag(plan, keys, d.one(m.FLAGS), d.chance(.6)),
    () => m.numberSeats(plan, keys, {start: String(d.between(1, 9)), step: d.between(1, 2), from: d.one(['left', 'right', 'middle'])}),
    () => m.makeRows(plan, {at: [d.below(500), d.below(500)], rows: d.between(1, 4), seats: d.between(1, 9), bend: d.one([0, 30]), grow: d.below(3)}, key, mint),
    () => m.makeTable(plan, {at: [d.below(500), d.below(500)], seats: d.between(1, 9), ...d.chance(.5) && {size: [60, 30]}}, key, mint),
    () => m.makeArea(plan, {outline: [[0, 0], [d.between(20, 300), 0], [90, 200]], capacity: d.between(1, 60)}, mint),
    () => m.makeShape(plan, {kind: 'text', role: 'label', center: [10, 10], text: 'Bar', size: 12}, mint),
    () => m.makeSection(plan, 'More', mint),
    () => ({plan: key ? m.editSection(plan, key, d.one([{category: category.key}, {name: `Renamed ${mint.key()}`}, {outline: undefined}])) : plan, selection: keys}),
    () => m.assignTo(plan, keys, key, mint),
    () => ({plan: m.shift(plan, d.one(all) ?? 0, d.one([-1, 1])), selection: keys}),
    () => ({plan: m.makeCategory(plan, mint), selection: keys}),
    () => ({plan: m.editCategory(plan, category[m.KEY], d.one([{price: d.below(100)}, {name: 'Other'}, {key: `K${mint.key()}`}])), selection: keys}),
    () => ({plan: m.removeCategory(plan, category[m.KEY]), selection: keys}),
    () => m.layArea(plan, key, {capacity: d.between(1, 80)}, mint),
    () => m.nameRows(plan, keys, {start: d.one(['A', '1', 'Box 1']), skip: 'IO', backwards: d.chance(.5)}),
  ]
  return {at: keys, ...d.one(edits)()}
}

// chosen is what a person would select: some seats, some rows, a section, shapes.
function chosen(m, d, plan, all) {
  if (d.chance(.3)) return new Set(d.some(all, .1))
  const keys = new Set()
  const sections = d.some(plan.sections, .4)
  for (const section of sections) {
    if (d.chance(.3)) for (const key of m.keysOf({section}, 'sections')) keys.add(key)
    for (const part of m.partsOf(section)) if (d.chance(.4)) for (const key of m.keysOf({section, part, seat: part.seats[0]}, 'rows')) keys.add(key)
  }
  for (const shape of plan.shapes ?? []) if (d.chance(.2)) keys.add(shape[m.KEY])
  return keys
}

export const EDITOR = ['editor_model', 'editor_history', 'editor_edit', 'editor_number', 'editor_make', 'editor_section', 'editor_pick', 'editor_shape', 'editor_state']
