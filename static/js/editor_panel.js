// The panel about what is selected: what it is called, what it costs, how it stands.

import {FLAGS, align, distribute, duplicate, layRows, move, remove, setCategory, setFlag, turn, units} from 'usher/editor_edit'
import {KEY, categoryOf, index, labelOf, partsOf, seatsOf, words} from 'usher/editor_model'
import {editShape, layArea, layTable} from 'usher/editor_make'
import {nameRows, numberSeats} from 'usher/editor_number'
import {assignTo, editPart, editSeat, editSection, makeSection} from 'usher/editor_section'
import {rowsSelected} from 'usher/editor_state'
import {lineOf} from 'usher/editor_shape'
import {button, check, choice, el, field, fill, group, numberField} from 'usher/editor_dom'
import {counted} from 'usher/page'

const FLAG_WORDS = {accessible: 'Wheelchair place', companion: 'Companion place', 'restricted-view': 'Restricted view', 'aisle-after': 'Aisle after it'}

// showSelection fills the panel.
export function showSelection(node, state) {
  const {plan, selection} = state
  if (!selection.size) return fill(node, el('p', {class: 'hint'}, 'Nothing is selected. Tap something in the plan, draw a frame around it, or choose it from the list of sections.'))
  const at = index(plan), things = [...selection].map(key => at.get(key)).filter(Boolean)
  const seats = things.filter(t => t.seat && t.part), shapes = things.filter(t => t.shape), sections = things.filter(t => t.section && !t.part && !t.seat).map(t => t.section)
  const rows = rowsSelected(plan, selection)
  fill(node,
    el('h2', {}, title(plan, selection, {seats, shapes, sections, rows})),
    sections.length === 1 && sectionFields(state, sections[0]),
    !sections.length && shapes.length === 1 && !seats.length && shapeFields(state, shapes[0].shape),
    !sections.length && seats.length === 1 && seatFields(state, seats[0]),
    seats.length > 0 && !sections.length && rows.length === 1 && partFields(state, rows[0]),
    seats.length > 0 && seatGroup(state, seats, sections),
    seats.length > 1 && numbering(state),
    rows.length > 1 && naming(state),
    rows.some(r => r.row !== undefined && r.seats.length > 1) && seats.length > 1 && layout(state, rows),
    seats.length > 0 && !sections.length && assignment(state),
    position(state))
}

function title(plan, selection, {seats, shapes, sections, rows}) {
  if (sections.length === 1) return sections[0].name
  if (sections.length) return counted(sections.length, 'section')
  if (seats.length && rows.length === 1) {
    const row = rows[0], whole = seats.length === row.seats.length, section = seats[0].section.name
    if (seats.length === 1 && !whole) return words(plan, seats[0].seat[KEY])
    return whole ? words(plan, row[KEY]) : `${section}, ${row.table ?? `row ${row.row}`}, ${counted(seats.length, 'seat')}`
  }
  if (seats.length) return `${counted(seats.length, 'seat')} in ${counted(rows.length, 'row')}`
  return shapes.length === 1 ? words(plan, shapes[0].shape[KEY]) : counted(shapes.length, 'shape')
}

const categories = plan => Object.fromEntries(plan.categories.map(c => [c.key, `${c.key} · ${c.name}`]))

function sectionFields(state, section) {
  const key = section[KEY], edit = (fields, mark) => state.act(plan => ({plan: editSection(plan, key, fields)}), mark)
  return group(section.area ? 'Area' : 'Section',
    field('Name', section.name, name => edit({name: name.trim()})),
    section.area && numberField('Places', section.area.capacity, n => state.act((plan, _, mint) => layArea(plan, key, {capacity: Math.min(100000, Math.round(n))}, mint)), {inputmode: 'numeric'}),
    choice('Price category', section.category ?? '', {'': section.category ? '' : 'none', ...categories(state.plan)}, category => section.area ? state.act((plan, s) => setCategory(plan, s, category)) : edit({category})),
    !section.area && el('p', {class: 'hint'}, `${counted(seatsOf(section).length, 'seat')} in ${counted(partsOf(section).length, 'row')}.`),
    section.outline && !section.area && button('Draw the outline around the seats', () => edit({outline: undefined})),
    !section.area && button('Draw the outline by hand', () => { state.section = key; state.use('outline') }))
}

function partFields(state, part) {
  const key = part[KEY], round = part.radius !== undefined
  if (part.table === undefined) return group('Row', field('Name of the row', labelOf(part), text => state.act(plan => ({plan: editPart(plan, key, text.trim())}))))
  const lay = fields => state.act((plan, _, mint) => layTable(plan, key, fields, mint))
  return group('Table',
    field('Name of the table', labelOf(part), text => state.act(plan => ({plan: editPart(plan, key, text.trim())}))),
    part.center && numberField('Chairs', part.seats.length, n => lay({seats: Math.min(200, Math.round(n))}), {inputmode: 'numeric'}),
    part.center && round && numberField('Radius', part.radius, n => lay({radius: Math.max(5, n)})),
    part.center && part.size && numberField('Width', part.size[0], n => lay({size: [Math.max(5, n), part.size[1]]})),
    part.center && part.size && numberField('Depth', part.size[1], n => lay({size: [part.size[0], Math.max(5, n)]})))
}

const seatFields = (state, {seat}) => group('Seat', field('Number', seat.number, text => state.act(plan => ({plan: editSeat(plan, seat[KEY], {number: text.trim()})}))))

// seatGroup says what the seats cost and what is special about them.
function seatGroup(state, seats, sections) {
  const costs = new Set(seats.map(s => categoryOf(s.seat, s.section))), one = costs.size === 1 ? [...costs][0] : ''
  const flag = name => {
    const n = seats.filter(s => s.seat.flags?.includes(name)).length
    return n === 0 ? false : n === seats.length ? true : undefined
  }
  return group('Seats',
    !sections.length && choice('Price category', one, {...one ? {} : {'': 'several'}, ...categories(state.plan)}, key => key && state.act((plan, s) => setCategory(plan, s, key))),
    ...FLAGS.map(name => check(FLAG_WORDS[name], flag(name), on => state.act((plan, s) => setFlag(plan, s, name, on)))))
}

// asks is a small form that keeps its answers between openings.
const kept = {}
function asks(name, defaults, fields, text, does) {
  const wish = kept[name] ??= {...defaults}
  return group(name, el('div', {class: 'pair'}, fields(wish)), button(text, () => does(wish)))
}

const numbering = state => asks('Number the seats', {start: '1', step: '1', from: 'left'}, wish => [
  field('First', wish.start, v => { wish.start = v.trim() || '1' }), choice('Step', wish.step, {1: 'every number', 2: 'odd or even', '-1': 'backwards'}, v => { wish.step = v }),
  choice('Begin', wish.from, {left: 'from the left', right: 'from the right', middle: 'in the middle'}, v => { wish.from = v }),
], 'Number them', wish => state.act((plan, s) => numberSeats(plan, s, {...wish, step: Number(wish.step)})))

const naming = state => asks('Name the rows', {start: 'A', skip: 'IO', backwards: 'no'}, wish => [
  field('First', wish.start, v => { wish.start = v.trim() || 'A' }), field('Skip letters', wish.skip, v => { wish.skip = v.trim() }, {maxlength: 20}),
  choice('Order', wish.backwards, {no: 'as listed', yes: 'the other way'}, v => { wish.backwards = v }),
], 'Name them', wish => state.act((plan, s) => nameRows(plan, s, {...wish, backwards: wish.backwards === 'yes'})))

function layout(state, rows) {
  const lines = rows.filter(r => r.row !== undefined && r.seats.length > 1).map(r => lineOf(r.seats.map(s => [s.x, s.y])))
  const same = name => lines.every(l => Math.abs(l[name] - lines[0][name]) < .5) ? lines[0][name] : ''
  const lay = fields => state.act((plan, s, mint) => layRows(plan, s, fields, mint))
  return group(rows.length > 1 ? 'Rows' : 'How the row stands', el('div', {class: 'pair'},
    numberField('Seats in a row', same('n'), n => lay({n: Math.max(1, Math.min(1000, Math.round(n)))}), {inputmode: 'numeric'}),
    numberField('Space between seats', same('spacing'), n => lay({spacing: Math.max(5, Math.min(200, n))})),
    numberField('Curve, degrees', same('bend'), n => lay({bend: Math.max(-180, Math.min(180, n))})),
    numberField('Angle, degrees', same('angle'), n => lay({angle: n}))))
}

function assignment(state) {
  const sections = state.plan.sections.filter(s => !s.area), only = state.onlySection()
  return group('Section', choice('Put them into', only?.[KEY]?.toString() ?? '', {...only ? {} : {'': 'several'}, ...Object.fromEntries(sections.map(s => [s[KEY], s.name])), new: 'a new section'}, to => state.act((plan, selection, mint) => {
    if (to === 'new') {
      const made = makeSection(plan, 'Section', mint)
      return assignTo(made.plan, selection, [...made.selection][0], mint)
    }
    return assignTo(plan, selection, Number(to), mint)
  })))
}

function shapeFields(state, shape) {
  const key = shape[KEY], edit = fields => state.act(plan => ({plan: editShape(plan, key, fields)}))
  return group('Shape',
    shape.kind === 'text' && field('Text', shape.text, text => text.trim() && edit({text: text.trim()}), {maxlength: 200}),
    shape.kind === 'text' && numberField('Height', shape.size, n => edit({size: Math.max(2, n)})),
    shape.kind === 'ellipse' && numberField('Width', 2 * shape.rx, n => edit({rx: Math.max(1, n / 2)})),
    shape.kind === 'ellipse' && numberField('Height', 2 * shape.ry, n => edit({ry: Math.max(1, n / 2)})),
    choice('It is', shape.role, {stage: 'a stage', wall: 'a wall', table: 'a table', label: 'a label', other: 'something else'}, role => edit({role})))
}

// position moves, turns, lines up, copies and deletes, whatever it is.
function position(state) {
  const several = units(state.plan, state.selection).length, to = how => () => state.act((plan, s) => align(plan, s, how))
  const by = kept.by ??= {x: 0, y: 0, turn: 0}
  return group('Place',
    el('div', {class: 'buttons'}, button('Duplicate', () => state.act((plan, s, mint) => duplicate(plan, s, 20, 20, mint))), button('Delete', () => state.act(remove), {class: 'danger'})),
    el('div', {class: 'pair'},
      numberField('Right by', by.x, n => { by.x = n }), numberField('Down by', by.y, n => { by.y = n }), numberField('Turn by, degrees', by.turn, n => { by.turn = n })),
    button('Move and turn', () => state.act((plan, s) => turn(move(plan, s, by.x, by.y).plan, s, by.turn))),
    several > 1 && el('div', {class: 'buttons', role: 'group', 'aria-label': 'Line up'}, ...['left', 'center', 'right', 'top', 'middle', 'bottom'].map(how => button(how, to(how), {'aria-label': `Line up ${how}`}))),
    several > 2 && el('div', {class: 'buttons'}, button('Space across', () => state.act((plan, s) => distribute(plan, s, false))), button('Space down', () => state.act((plan, s) => distribute(plan, s, true)))))
}
