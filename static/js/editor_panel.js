// The panel about what is selected: what it is called, what it costs, how it stands.

import {FLAGS, align, distribute, duplicate, layRows, move, remove, setCategory, setFlag, turn, units} from 'usher/editor_edit'
import {KEY, OBJECTS, categoryOf, index, labelOf, partsOf, seatsOf, words} from 'usher/editor_model'
import {editShape, layArea, layTable} from 'usher/editor_make'
import {toFloor} from 'usher/editor_floors'
import {nameRows, numberSeats} from 'usher/editor_number'
import {assignTo, editPart, editSeat, editSection, makeSection, sellWhole, share} from 'usher/editor_section'
import {rowsSelected} from 'usher/editor_state'
import {lineOf} from 'usher/editor_shape'
import {button, check, choice, el, field, fill, group, numberField} from 'usher/editor_dom'
import {N, T} from 'usher/text'

const EDGES = {left: T('Left edges'), center: T('Horizontal centres'), right: T('Right edges'), top: T('Top edges'), middle: T('Vertical centres'), bottom: T('Bottom edges')}
const FLAG_WORDS = {accessible: T('Wheelchair place'), companion: T('Companion place'), 'restricted-view': T('Restricted view'), 'aisle-after': T('Aisle after it')}

// showSelection fills the panel.
export function showSelection(node, state) {
  const {plan, selection} = state
  if (!selection.size) return fill(node, el('p', {class: 'hint'}, T('Nothing is selected. Tap something in the plan, draw a frame around it, or choose it from the list of sections.')))
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
  if (sections.length) return N('%d section selected', '%d sections selected', sections.length)
  if (seats.length && rows.length === 1) {
    const row = rows[0], whole = seats.length === row.seats.length
    if (seats.length === 1 && !whole) return words(plan, seats[0].seat[KEY])
    return whole ? words(plan, row[KEY]) : T('%s: %s', words(plan, row[KEY]), N('%d seat selected', '%d seats selected', seats.length))
  }
  if (seats.length) return T('%s in %s', N('%d seat', '%d seats', seats.length), N('%d row', '%d rows', rows.length))
  return shapes.length === 1 ? words(plan, shapes[0].shape[KEY]) : N('%d shape selected', '%d shapes selected', shapes.length)
}

const categories = plan => Object.fromEntries(plan.categories.map(c => [c.key, `${c.key} · ${c.name}`]))

function sectionFields(state, section) {
  const key = section[KEY], edit = (fields, mark) => state.act(plan => ({plan: editSection(plan, key, fields)}), mark)
  return group(section.area ? T('Area') : T('Section'),
    field(T('Name'), section.name, name => edit({name: name.trim()})),
    section.area && numberField(T('Places'), section.area.capacity, n => state.act((plan, _, mint) => layArea(plan, key, {capacity: Math.min(100000, Math.round(n))}, mint)), {inputmode: 'numeric'}),
    floorChoice(state, section),
    choice(T('Price category'), section.category ?? '', {'': section.category ? '' : T('none'), ...categories(state.plan)}, category => section.area ? state.act((plan, s) => setCategory(plan, s, category)) : edit({category})),
    !section.area && el('p', {class: 'hint'}, T('%s in %s.', N('%d seat', '%d seats', seatsOf(section).length), N('%d row', '%d rows', partsOf(section).length))),
    section.outline && !section.area && button(T('Draw the outline around the seats'), () => edit({outline: undefined})),
    !section.area && button(T('Draw the outline by hand'), () => { state.section = key; state.use('outline') }))
}

const floorChoice = (state, thing) => state.plan.floors && choice(T('Floor'), thing.floor, Object.fromEntries(state.plan.floors.map(f => [f.name, f.name])), name => state.act((plan, selection) => ({plan: toFloor(plan, new Set([thing[KEY]]), thing, name), selection})))

// partyFields say how many seats each party has at a row or table.
function partyFields(state, part) {
  const {shared} = part, all = part.seats.length
  const tell = told => state.act((plan, selection) => ({plan: share(plan, part[KEY], told), selection}))
  const count = (label, value, name) => numberField(label, value, n => tell({...shared, [name]: Math.min(all, Math.max(1, Math.round(n)))}), {inputmode: 'numeric'})
  return [check(T('Shared by parties'), shared !== undefined, on => tell(on ? {least: Math.min(2, all), most: all} : undefined)),
    shared && count(T('Seats for a party, at least'), shared.least ?? 1, 'least'), shared && count(T('Seats for a party, at most'), shared.most ?? all, 'most'),
    shared && check(T('Leave enough for the next party'), shared.noRest === true, on => { const {noRest, ...rest} = shared; tell(on ? {...rest, noRest: true} : rest) })]
}

function partFields(state, part) {
  const key = part[KEY], round = part.radius !== undefined
  const whole = part.seats.length > 1 && check(T('Sold as a whole'), part.whole === true, on => state.act((plan, selection) => ({plan: sellWhole(plan, key, on), selection})))
  const parties = part.seats.length > 1 ? partyFields(state, part) : []
  if (part.table === undefined) return group(T('Row'), field(T('Name of the row'), labelOf(part), text => state.act(plan => ({plan: editPart(plan, key, text.trim())}))), whole, ...parties)
  const lay = fields => state.act((plan, _, mint) => layTable(plan, key, fields, mint))
  return group(T('Table'),
    field(T('Name of the table'), labelOf(part), text => state.act(plan => ({plan: editPart(plan, key, text.trim())}))), whole, ...parties,
    part.center && numberField(T('Chairs'), part.seats.length, n => lay({seats: Math.min(200, Math.round(n))}), {inputmode: 'numeric'}),
    part.center && round && numberField(T('Radius'), part.radius, n => lay({radius: Math.max(5, n)})),
    part.center && part.size && numberField(T('Width'), part.size[0], n => lay({size: [Math.max(5, n), part.size[1]]})),
    part.center && part.size && numberField(T('Depth'), part.size[1], n => lay({size: [part.size[0], Math.max(5, n)]})))
}

const seatFields = (state, {seat}) => group(T('Seat'), field(T('Number'), seat.number, text => state.act(plan => ({plan: editSeat(plan, seat[KEY], {number: text.trim()})}))))

// seatGroup says what the seats cost and what is special about them.
function seatGroup(state, seats, sections) {
  const costs = new Set(seats.map(s => categoryOf(s.seat, s.section))), one = costs.size === 1 ? [...costs][0] : ''
  const flag = name => {
    const n = seats.filter(s => s.seat.flags?.includes(name)).length
    return n === 0 ? false : n === seats.length ? true : undefined
  }
  return group(T('Seats'),
    !sections.length && choice(T('Price category'), one, {...one ? {} : {'': T('several')}, ...categories(state.plan)}, key => key && state.act((plan, s) => setCategory(plan, s, key))),
    ...FLAGS.map(name => check(FLAG_WORDS[name], flag(name), on => state.act((plan, s) => setFlag(plan, s, name, on)))))
}

// asks is a small form that keeps its answers between openings.
const kept = {}
function asks(name, defaults, fields, text, does) {
  const wish = kept[name] ??= {...defaults}
  return group(name, el('div', {class: 'pair'}, fields(wish)), button(text, () => does(wish)))
}

const numbering = state => asks(T('Number the seats'), {start: '1', step: '1', from: 'left'}, wish => [
  field(T('First number'), wish.start, v => { wish.start = v.trim() || '1' }), choice(T('Step'), wish.step, {1: T('every number'), 2: T('odd or even'), '-1': T('backwards')}, v => { wish.step = v }),
  choice(T('Begin'), wish.from, {left: T('from the left'), right: T('from the right'), middle: T('in the middle')}, v => { wish.from = v }),
], T('Number them'), wish => state.act((plan, s) => numberSeats(plan, s, {...wish, step: Number(wish.step)})))

const naming = state => asks(T('Name the rows'), {start: 'A', skip: 'IO', backwards: 'no'}, wish => [
  field(T('First row'), wish.start, v => { wish.start = v.trim() || 'A' }), field(T('Skip letters'), wish.skip, v => { wish.skip = v.trim() }, {maxlength: 20}),
  choice(T('Row order'), wish.backwards, {no: T('as listed'), yes: T('the other way')}, v => { wish.backwards = v }),
], T('Name them'), wish => state.act((plan, s) => nameRows(plan, s, {...wish, backwards: wish.backwards === 'yes'})))

function layout(state, rows) {
  const lines = rows.filter(r => r.row !== undefined && r.seats.length > 1).map(r => lineOf(r.seats.map(s => [s.x, s.y])))
  const same = name => lines.every(l => Math.abs(l[name] - lines[0][name]) < .5) ? lines[0][name] : ''
  const lay = fields => state.act((plan, s, mint) => layRows(plan, s, fields, mint))
  return group(rows.length > 1 ? T('Rows') : T('How the row stands'), el('div', {class: 'pair'},
    numberField(T('Seats in a row'), same('n'), n => lay({n: Math.max(1, Math.min(1000, Math.round(n)))}), {inputmode: 'numeric'}),
    numberField(T('Space between seats'), same('spacing'), n => lay({spacing: Math.max(5, Math.min(200, n))})),
    numberField(T('Curve, degrees'), same('bend'), n => lay({bend: Math.max(-180, Math.min(180, n))})),
    numberField(T('Angle, degrees'), same('angle'), n => lay({angle: n}))))
}

function assignment(state) {
  const sections = state.shown.sections.filter(s => !s.area), only = state.onlySection()
  return group(T('Section'), choice(T('Put them into'), only?.[KEY]?.toString() ?? '', {...only ? {} : {'': T('several')}, ...Object.fromEntries(sections.map(s => [s[KEY], s.name])), new: T('a new section')}, to => state.act((plan, selection, mint) => {
    if (to === 'new') {
      const made = makeSection(plan, T('Section'), mint)
      return assignTo(made.plan, selection, [...made.selection][0], mint)
    }
    return assignTo(plan, selection, Number(to), mint)
  })))
}

function shapeFields(state, shape) {
  const key = shape[KEY], edit = fields => state.act(plan => ({plan: editShape(plan, key, fields)}))
  return group(T('Shape'),
    shape.kind === 'text' && field(T('Text'), shape.text, text => text.trim() && edit({text: text.trim()}), {maxlength: 200}),
    shape.kind === 'text' && numberField(T('Height'), shape.size, n => edit({size: Math.max(2, n)})),
    shape.kind === 'ellipse' && numberField(T('Width'), 2 * shape.rx, n => edit({rx: Math.max(1, n / 2)})),
    shape.kind === 'ellipse' && numberField(T('Height'), 2 * shape.ry, n => edit({ry: Math.max(1, n / 2)})),
    floorChoice(state, shape),
    shape.kind === 'icon' && numberField(T('Size'), shape.size, n => edit({size: Math.max(4, n)})),
    choice(T('It is'), shape.role, shape.kind === 'icon' ? OBJECTS : {stage: T('a stage'), wall: T('a wall'), table: T('a table'), label: T('a label'), other: T('something else')}, role => edit({role})))
}

// position moves, turns, lines up, copies and deletes, whatever it is.
function position(state) {
  const several = units(state.plan, state.selection).length, to = how => () => state.act((plan, s) => align(plan, s, how))
  const by = kept.by ??= {x: 0, y: 0, turn: 0}
  return group(T('Position'),
    el('div', {class: 'buttons'}, button(T('Duplicate'), () => state.act((plan, s, mint) => duplicate(plan, s, 20, 20, mint))), button(T('Delete'), () => state.act(remove), {class: 'danger'})),
    el('div', {class: 'pair'},
      numberField(T('Right by'), by.x, n => { by.x = n }), numberField(T('Down by'), by.y, n => { by.y = n }), numberField(T('Turn by, degrees'), by.turn, n => { by.turn = n })),
    button(T('Move and turn'), () => state.act((plan, s) => turn(move(plan, s, by.x, by.y).plan, s, by.turn))),
    several > 1 && el('div', {class: 'buttons', role: 'group', 'aria-label': T('Line up')}, ...Object.entries(EDGES).map(([how, name]) => button(name, to(how)))),
    several > 2 && el('div', {class: 'buttons'}, button(T('Space across'), () => state.act((plan, s) => distribute(plan, s, false))), button(T('Space down'), () => state.act((plan, s) => distribute(plan, s, true)))))
}
