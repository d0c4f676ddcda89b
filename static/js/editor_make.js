// New things of a plan: rows, arcs, tables, areas, shapes, texts, sections, categories. Each returns {plan, selection}
// with what was made selected.

import {KEY, assign, index, labelOf, mapSections, mapShapes, mapped, partsOf, placesOf, set} from 'usher/editor_model'
import {ROW_SPACING, SPACING, around, line, spread, tenth} from 'usher/editor_shape'
import {follows, freeName, names} from 'usher/editor_number'
import {T} from 'usher/text'

// blank is the document of a plan with nothing in it yet.
export const blank = name => ({
  format: 'usher-plan/1', name, width: 1000, height: 700,
  categories: [{key: 'A', name: T('Seat'), price: 0}], sections: [],
  shapes: [{kind: 'polygon', role: 'stage', points: [[350, 40], [650, 40], [650, 90], [350, 90]]}, {kind: 'text', role: 'label', center: [500, 65], text: T('Stage'), size: 20}],
})

// target is the section that new rows go to: the one asked for if it can have rows, else a new one.
function target(plan, key, mint, name = T('Section')) {
  const section = index(plan).get(key)?.section
  if (section && !section.area) return {plan, key: section[KEY]}
  const made = {name: freeName(name, plan.sections.map(s => s.name)), category: plan.categories[0]?.key, rows: [], [KEY]: mint.key()}
  return {plan: set(plan, 'sections', [...plan.sections, made]), key: made[KEY]}
}

const seat = (id, number, [x, y], key) => ({id, number, x, y, [KEY]: key})

// makeRows adds rows, each behind the one before: {at, rows, seats, spacing, rowSpacing, angle, bend, grow, row, number}.
// Bent rows are arcs around one center, their ends forward. row and number are schemes of names.
export function makeRows(plan, wish, section, mint) {
  const {at, rows = 1, seats = 10, spacing = SPACING, rowSpacing = ROW_SPACING, angle = 0, bend = 0, grow = 0} = wish
  const to = target(plan, section, mint), made = new Set()
  const old = partsOf(index(to.plan).get(to.key).section).map(labelOf)
  const labels = wish.row ? names(rows, wish.row) : []
  const sin = Math.sin(angle * Math.PI / 180), cos = Math.cos(angle * Math.PI / 180)
  const radius = bend ? (seats - 1) * spacing / (bend * Math.PI / 180) : Infinity
  const list = Array.from({length: rows}, (_, i) => {
    const back = i * rowSpacing, n = seats + i * grow
    const arc = bend && (n - 1) * spacing / (radius + back) * 180 / Math.PI
    const points = line({at: [at[0] - back * sin, at[1] + back * cos], n, spacing, angle, bend: arc})
    const label = labels[i] ?? (old.length ? follows(old) : 'A')
    old.push(label)
    const numbers = names(n, wish.number)
    if (wish.number?.from === 'right') numbers.reverse()
    return {row: label, seats: points.map((p, k) => {
      const key = mint.key()
      made.add(key)
      return seat(mint.id(), numbers[k], p, key)
    }), [KEY]: mint.key()}
  })
  const now = mapSections(to.plan, s => s[KEY] === to.key ? assign(s, {rows: [...s.rows ?? [], ...list], generate: undefined}) : s)
  return {plan: now, selection: made}
}

// makeTable adds a table with chairs: round ({radius}) or rectangular ({size: [width, height], rotation}); whole if its seats are
// sold together only.
export function makeTable(plan, {at, seats = 8, whole, radius, size, rotation}, section, mint) {
  const to = target(plan, section, mint, T('Tables')), old = partsOf(index(to.plan).get(to.key).section)
  const table = {
    table: follows(old.length ? old.map(labelOf) : [T('Table %s', 0)]), ...whole && {whole}, center: at.map(tenth), ...size ? {size, ...rotation && {rotation}} : {radius: radius ?? roundRadius(seats)},
    [KEY]: mint.key(),
  }
  table.seats = around(table, seats).map((p, i) => seat(mint.id(), String(i + 1), p, mint.key()))
  const now = mapSections(to.plan, s => s[KEY] === to.key ? assign(s, {tables: [...s.tables ?? [], table], rows: s.rows?.length ? s.rows : undefined, generate: undefined}) : s)
  return {plan: now, selection: new Set([table[KEY], ...table.seats.map(s => s[KEY])])}
}

// roundRadius is a table at which so many chairs have room.
export const roundRadius = seats => tenth(Math.max(14, seats * SPACING / (2 * Math.PI) - .6 * SPACING))

// layTable gives a table another size or another number of chairs; chairs that stay keep their id and number.
export function layTable(plan, key, {seats, radius, size, rotation}, mint) {
  const now = mapSections(plan, section => set(section, 'tables', mapped(section.tables, table => {
    if (table[KEY] !== key || !table.center) return table
    const shaped = assign(table, {radius: size ? undefined : radius ?? table.radius, size: size ?? (radius ? undefined : table.size), rotation: rotation ?? table.rotation})
    const n = Math.max(1, seats ?? table.seats.length), points = around(shaped, n), numbers = table.seats.map(s => s.number)
    const chairs = points.map((p, i) => {
      const old = table.seats[i]
      if (old) return assign(old, {x: p[0], y: p[1]})
      numbers.push(follows(numbers))
      return seat(mint.id(), numbers.at(-1), p, mint.key())
    })
    return set(shaped, 'seats', chairs)
  })))
  const table = index(now).get(key)?.part
  return {plan: now, selection: new Set(table ? [key, ...table.seats.map(s => s[KEY])] : [])}
}

// makeArea adds room for people without seats.
export function makeArea(plan, {outline, capacity = 100, name = T('Standing')}, mint) {
  const area = {
    name: freeName(name, plan.sections.map(s => s.name)), category: plan.categories[0]?.key,
    outline: outline.map(p => p.map(tenth)), area: filled({capacity: 0, places: []}, outline, capacity, mint), [KEY]: mint.key(),
  }
  return {plan: set(plan, 'sections', [...plan.sections, area]), selection: new Set([area[KEY]])}
}

// filled is an area of so many places, laid out inside its outline. Places that stay keep their id and number.
export function filled(area, outline, capacity, mint) {
  const places = area.places ?? [], numbers = places.map(p => p.number)
  const points = outline?.length > 2 ? spread(outline, capacity) : Array.from({length: capacity}, (_, i) => places[i] ? [places[i].x, places[i].y] : [places.at(-1)?.x ?? 0, places.at(-1)?.y ?? 0])
  const list = points.map((p, i) => {
    if (places[i]) return assign(places[i], {x: p[0], y: p[1]})
    numbers.push(i ? follows(numbers.slice(-2)) : '1')
    return seat(mint.id(), numbers.at(-1), p, mint.key())
  })
  return {...area, capacity: list.length, places: list}
}

// layArea gives an area another capacity or outline.
export function layArea(plan, key, {capacity, outline}, mint) {
  const now = mapSections(plan, section => {
    if (section[KEY] !== key || !section.area) return section
    const around = outline ?? section.outline, n = Math.max(1, capacity ?? section.area.capacity)
    const same = !outline && n === placesOf(section).length
    return same ? section : assign(section, {outline: around, area: filled(section.area, around, n, mint)})
  })
  return {plan: now, selection: new Set([key])}
}

// makeShape adds a drawing: a polygon, a line, an ellipse or a text.
export function makeShape(plan, shape, mint) {
  const made = {...shape, [KEY]: mint.key()}
  return {plan: set(plan, 'shapes', [...plan.shapes ?? [], made]), selection: new Set([made[KEY]])}
}

export const editShape = (plan, key, fields) => mapShapes(plan, shape => shape[KEY] === key ? assign(shape, fields) : shape)

export function makeCategory(plan, mint) {
  const keys = plan.categories.map(c => c.key), key = keys.length ? follows(keys) : 'A'
  const made = {key, name: T('Category %s', key), price: 0, [KEY]: mint.key()}
  return set(plan, 'categories', [...plan.categories, made])
}

// editCategory changes a category; where its key changes, all that costs it follows.
export function editCategory(plan, key, fields) {
  const old = plan.categories.find(c => c[KEY] === key)
  if (!old || fields.key !== undefined && plan.categories.some(c => c !== old && c.key === fields.key)) return plan
  const now = set(plan, 'categories', mapped(plan.categories, c => c === old ? assign(c, fields) : c))
  if (fields.key === undefined || fields.key === old.key) return now
  const renamed = thing => thing.category === old.key ? set(thing, 'category', fields.key) : thing
  const part = p => set(p, 'seats', mapped(p.seats, renamed))
  return mapSections(now, s => assign(renamed(s), {
    rows: mapped(s.rows, part), tables: mapped(s.tables, part), generate: generators(s.generate, old.key, fields.key),
    area: s.area && set(s.area, 'places', mapped(s.area.places, renamed)),
  }))
}

const generators = (list, was, is) => mapped(list, g => g.categories?.includes(was) ? {...g, categories: g.categories.map(c => c === was ? is : c)} : g)

// costs reports whether anything has this category.
export const costs = (plan, key) => plan.sections.some(s => s.category === key || [...partsOf(s).flatMap(p => p.seats), ...placesOf(s)].some(seat => seat.category === key) || s.generate?.some(g => g.categories?.includes(key)))

export const removeCategory = (plan, key) => costs(plan, plan.categories.find(c => c[KEY] === key)?.key) || plan.categories.length < 2 ? plan : set(plan, 'categories', mapped(plan.categories, c => c[KEY] === key ? undefined : c))
