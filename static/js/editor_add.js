// The panel of a tool: what the next thing will be, and a button that adds it in the middle of the picture, to
// draw without a pointer.

import {makeArea, makeRows, makeShape, makeTable} from 'usher/editor_make'
import {KEY, OBJECTS} from 'usher/editor_model'
import {longSize, rowsWish, wishes} from 'usher/editor_tools'
import {measured} from 'usher/editor_under'
import {button, check, choice, el, field, fill, group, numberField} from 'usher/editor_dom'
import {T} from 'usher/text'

export const TOOLS = {
  select: [T('Select'), T('Tap to select, drag to move. A frame around things selects them; with Alt held it is a line drawn by hand.')],
  pan: [T('Move the view'), T('Drag to move the view. Two fingers and the middle button do that with every tool.')],
  rows: [T('Rows'), T('Drag a frame: it fills with rows. A tap sets as many as the form says.')],
  round: [T('Round table'), T('Tap where the table stands.')], long: [T('Long table'), T('Tap where the table stands.')],
  area: [T('General admission area'), T('Drag a frame, or set corner after corner; the first corner again ends it.')],
  shape: [T('Shape'), T('Drag a frame, or set corner after corner; the first corner again ends it.')],
  text: [T('Text'), T('Tap where the text stands.')],
  object: [T('Object'), T('Tap where it is.')],
  outline: [T('Outline'), T('Drag a frame around the section, or set corner after corner; the first corner again ends it.')],
  under: [T('Move the picture'), T('Drag the picture to where it fits under the plan. Escape ends it.')],
  scale: [T('Set its scale'), T('Drag from the first to the last seat of a row in the picture, and say how many seats that row has. The picture becomes as large as the seats of the plan.')],
  focus: [T('Where people look'), T('Tap where people look: the best seats are near it.')],
}

export function showTool(node, state) {
  const [name, hint] = TOOLS[state.tool], form = forms[state.tool]
  const middle = () => state.camera.plan(state.camera.width / 2, state.camera.height / 2).map(n => Math.round(n / 5) * 5)
  fill(node, el('h2', {}, name), el('p', {class: 'hint'}, hint), form && group(T('What it will be'), el('div', {class: 'pair'}, form.fields(wishes[state.tool], state))),
    form?.add && button(T('Add in the middle'), () => {
      state.act((plan, _, mint) => form.add(plan, wishes[state.tool], middle(), state, mint))
      state.use('select')
    }, {class: 'primary'}))
}

const count = (wish, name, label, most) => numberField(label, wish[name], n => { wish[name] = Math.max(1, Math.min(most, Math.round(n))) }, {inputmode: 'numeric'})
const words = (wish, name, label, more) => field(label, wish[name], v => { wish[name] = v.trim() }, more)

const whole = wish => check(T('Sold as a whole'), wish.whole === true, on => { wish.whole = on })

// into says which section gets what is made.
const into = state => choice(T('Section'), String(state.section ?? ''), {'': T('a new one'), ...Object.fromEntries(state.shown.sections.filter(s => !s.area).map(s => [s[KEY], s.name]))}, key => { state.section = key ? Number(key) : undefined })

const forms = {
  rows: {
    fields: (w, state) => [
      count(w, 'rows', T('Rows'), 200), count(w, 'seats', T('Seats in a row'), 500), numberField(T('Curve, degrees'), w.bend, n => { w.bend = Math.max(-180, Math.min(180, n)) }), numberField(T('More in each row behind'), w.grow, n => { w.grow = Math.max(0, Math.min(20, Math.round(n))) }),
      words(w, 'row', T('First row'), {placeholder: T('the next one')}), words(w, 'number', T('First number')), choice(T('Numbers'), w.step, {1: T('every number'), 2: T('odd or even')}, v => { w.step = v }), choice(T('Begin'), w.from, {left: T('from the left'), right: T('from the right')}, v => { w.from = v }), into(state),
    ],
    add: (plan, w, at, state, mint) => makeRows(plan, rowsWish(w, at), state.section, mint),
  },
  round: {fields: (w, state) => [count(w, 'seats', T('Chairs'), 60), into(state), whole(w)], add: (plan, w, at, state, mint) => makeTable(plan, {at, seats: w.seats, whole: w.whole}, state.section, mint)},
  long: {fields: (w, state) => [count(w, 'seats', T('Chairs'), 200), count(w, 'width', T('Width'), 2000), count(w, 'depth', T('Depth'), 2000), into(state), whole(w)], add: (plan, w, at, state, mint) => makeTable(plan, {at, seats: w.seats, whole: w.whole, size: longSize()}, state.section, mint)},
  area: {fields: w => [count(w, 'capacity', T('Places'), 100000)], add: (plan, w, [x, y], state, mint) => makeArea(plan, {outline: [[x - 100, y - 60], [x + 100, y - 60], [x + 100, y + 60], [x - 100, y + 60]], capacity: w.capacity}, mint)},
  shape: {
    fields: w => [choice(T('Form'), w.kind, {polygon: T('polygon'), line: T('line'), ellipse: T('ellipse')}, v => { w.kind = v }), choice(T('It is'), w.role, {stage: T('a stage'), wall: T('a wall'), other: T('something else')}, v => { w.role = v })],
    add: (plan, w, [x, y], state, mint) => makeShape(plan, w.kind === 'ellipse' ? {...w, center: [x, y], rx: 80, ry: 50} : w.kind === 'line' ? {...w, points: [[x - 80, y], [x + 80, y]]} : {...w, points: [[x - 100, y - 30], [x + 100, y - 30], [x + 100, y + 30], [x - 100, y + 30]]}, mint),
  },
  object: {fields: w => [choice(T('It is'), w.role, OBJECTS, v => { w.role = v }), count(w, 'size', T('Size'), 500)], add: (plan, w, at, state, mint) => makeShape(plan, {kind: 'icon', center: at, ...w}, mint)},
  scale: {fields: () => [numberField(T('Seats of the row'), measured.seats, n => { measured.seats = Math.max(2, Math.min(500, Math.round(n))) }, {inputmode: 'numeric'})]},
  text: {fields: w => [words(w, 'text', T('Text'), {maxlength: 200}), count(w, 'size', T('Height'), 500)], add: (plan, w, at, state, mint) => makeShape(plan, {kind: 'text', role: 'label', center: at, text: w.text || T('Text'), size: w.size}, mint)},
}
