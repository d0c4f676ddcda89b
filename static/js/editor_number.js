// Names of rows and seats: numbers, odd or even ones, letters without I and O, from either side or from the middle.

import {KEY, labelOf, mapSections, mapped, partsOf, set} from 'usher/editor_model'

const letters = skip => [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter(l => !skip.includes(l))

// letter is the name at a place of A, B, … Z, AA, AB, …, without the letters to skip.
export function letter(n, skip = '') {
  const all = letters(skip.toUpperCase())
  let text = ''
  for (n++; n > 0; n = Math.floor((n - 1) / all.length)) text = all[(n - 1) % all.length] + text
  return text
}

// letterPlace is the place of such a name; -1 if it is none.
export function letterPlace(text, skip = '') {
  const all = letters(skip.toUpperCase())
  let n = 0
  for (const l of text.toUpperCase()) {
    const at = all.indexOf(l)
    if (at < 0) return -1
    n = n * all.length + at + 1
  }
  return n - 1
}

// names is n names of a scheme: {start, step, letters, skip}. Numbers may have something before them: "T1", "T2".
export function names(n, {start = '1', step = 1, skip = ''} = {}) {
  const text = String(start), place = /^[a-z]{1,2}$/i.test(text) ? letterPlace(text, skip) : -1
  if (place >= 0) {
    const small = text === text.toLowerCase()
    return Array.from({length: n}, (_, i) => {
      const name = letter(Math.max(0, place + i * step), skip)
      return small ? name.toLowerCase() : name
    })
  }
  const [, before, digits] = /^(.*?)(\d*)$/s.exec(text), first = Number(digits || 1), width = digits.startsWith('0') ? digits.length : 0
  return Array.from({length: n}, (_, i) => before + String(Math.max(0, first + i * step)).padStart(width, '0'))
}

// follows is the name after the last of a list that none of the list has.
export function follows(list) {
  const taken = new Set(list), last = list.at(-1) ?? '0'
  const before = list.length > 1 ? list.at(-2) : undefined
  const gap = Number(last) - Number(before), step = before !== undefined && gap > 0 && gap < 3 ? gap : 1
  for (let i = 1; ; i++) {
    const name = names(i + 1, {start: last, step}).at(-1)
    if (!taken.has(name)) return name
  }
}

// freeName is a name like this one that is not taken: "Stalls 2".
export function freeName(name, taken) {
  const [, stem, n] = /^(.*?)(?: (\d+))?$/s.exec(name)
  for (let i = Number(n ?? 1) + (taken.includes(name) ? 1 : 0); ; i++) {
    const next = i === 1 ? stem : `${stem} ${i}`
    if (!taken.includes(next)) return next
  }
}

// numberOrder is the order in which seats of a row get their numbers: from the left or right as drawn, or from the middle
// outwards, turn by turn.
export function numberOrder(seats, from) {
  const order = seats.map((_, i) => i)
  const across = Math.abs(seats.at(-1).x - seats[0].x) >= Math.abs(seats.at(-1).y - seats[0].y)
  const forward = across ? seats.at(-1).x >= seats[0].x : seats.at(-1).y >= seats[0].y
  if (!forward) order.reverse() // now from left to right as drawn
  if (from === 'right') return order.reverse()
  if (from !== 'middle') return order
  const out = [], half = order.length >> 1
  for (let i = 0; i < order.length; i++) out.push(order[half + (i % 2 ? -(i + 1 >> 1) : i >> 1)] ?? order[0])
  return out
}

// numberSeats gives the selected seats of each row new numbers: {start, step, skip, from: 'left' | 'right' | 'middle'}.
export function numberSeats(plan, selection, scheme) {
  const now = mapSections(plan, section => withParts(section, part => {
    const chosen = part.seats.filter(s => selection.has(s[KEY]) || selection.has(part[KEY]) || selection.has(section[KEY]))
    if (!chosen.length) return part
    const order = part.table !== undefined ? chosen.map((_, i) => i) : numberOrder(chosen, scheme.from), list = names(chosen.length, scheme)
    const number = new Map(order.map((at, i) => [chosen[at], list[i]]))
    return set(part, 'seats', mapped(part.seats, seat => number.has(seat) ? set(seat, 'number', number.get(seat)) : seat))
  }))
  return {plan: now, selection}
}

// nameRows gives the selected rows and tables of each section new names, in their order or backwards: {start, step, skip,
// backwards}.
export function nameRows(plan, selection, scheme) {
  const now = mapSections(plan, section => {
    const chosen = partsOf(section).filter(p => selection.has(p[KEY]) || selection.has(section[KEY]) || p.seats.some(s => selection.has(s[KEY])))
    if (!chosen.length) return section
    const list = names(chosen.length, scheme)
    if (scheme.backwards) list.reverse()
    const name = new Map(chosen.map((part, i) => [part, list[i]]))
    return withParts(section, part => name.has(part) ? set(part, part.table !== undefined ? 'table' : 'row', name.get(part)) : part)
  })
  return {plan: now, selection}
}

// withParts is a section with other names in it. Generators would make the old ones.
function withParts(section, f) {
  const rows = mapped(section.rows, f), tables = mapped(section.tables, f)
  if (rows === section.rows && tables === section.tables) return section
  return set(set(set(section, 'rows', rows), 'tables', tables), 'generate', undefined)
}

// twins are the labels that name more than one seat, each with how often it stands; rows of one name are one row.
export function twins(plan) {
  const counts = new Map()
  const count = label => counts.set(label, (counts.get(label) ?? 0) + 1)
  for (const section of plan.sections) {
    for (const part of partsOf(section)) for (const seat of part.seats) count(`${section.name}/${labelOf(part)}/${seat.number}`)
    for (const place of section.area?.places ?? []) count(`${section.name}/${place.number}`)
  }
  return [...counts].filter(([, n]) => n > 1)
}
