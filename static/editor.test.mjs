// The editor's operations, on random plans and random edits: undo brings back exactly what was there, and what is not
// edited stays as it was.

import assert from 'node:assert/strict'
import test from 'node:test'
import {modules} from './testdata/modules.mjs'
import {EDITOR, dice, randomDocument, randomEdit} from './testdata/random.mjs'

const editor = await modules(EDITOR)
const {KEY, Mint, index, load, save} = editor

// seatsIn lists the seats of a document as lines of text, with section, row and what they cost.
function seatsIn(doc) {
  const lines = new Map()
  const line = (section, part, seat) => lines.set(seat.id, JSON.stringify([section.name, part, seat.number, seat.x, seat.y, seat.category ?? section.category, seat.flags ?? []]))
  for (const s of doc.sections) {
    for (const r of s.rows ?? []) for (const seat of r.seats) line(s, r.row, seat)
    for (const t of s.tables ?? []) for (const seat of t.seats) line(s, t.table, seat)
    for (const p of s.area?.places ?? []) line(s, '', p)
  }
  return lines
}

// wrongIn walks random edits of a random plan and tells the first promise that is broken.
function wrongIn(m, seed, steps = 25) {
  const d = dice(seed), document = randomDocument(d), mint = new m.Mint('n'), text = JSON.stringify(document)
  let h = m.begin(m.load(document, mint))
  if (JSON.stringify(m.save(h.plan)) !== text) return 'what is loaded and saved is not the same document'
  const states = [h.plan], start = h.plan
  for (let i = 0; i < steps; i++) {
    const before = JSON.stringify(h.plan), seen = h.plan, told = randomEdit(m, d, h.plan, mint)
    if (JSON.stringify(seen) !== before) return `step ${i} changed the plan it was given`
    h = m.act(h, told)
    if (h.plan !== states.at(-1)) states.push(h.plan)
    const ids = [...m.index(h.plan).values()].filter(at => at.seat).map(at => at.seat.id)
    if (new Set(ids).size !== ids.length) return `step ${i} gave an id twice`
    if ([...h.selection].some(key => !m.index(h.plan).has(key))) return `step ${i} selected what is not there`
    const empty = h.plan.sections.flatMap(m.partsOf).find(p => !p.seats.length)
    if (empty) return `step ${i} left a row without seats`
    const odd = h.plan.sections.find(s => s.area?.places && s.area.capacity !== s.area.places.length)
    if (odd) return `step ${i} left an area of ${odd.area.capacity} with ${odd.area.places.length} places`
    const wrong = [...m.index(h.plan).values()].find(at => at.seat && !(Number.isFinite(at.seat.x) && Number.isFinite(at.seat.y)))
    if (wrong) return `step ${i} put a seat nowhere`
    const priceless = [...m.index(h.plan).values()].find(at => at.seat && !h.plan.categories.some(c => c.key === m.categoryOf(at.seat, at.section)))
    if (priceless) return `step ${i} left a seat without a price`
  }
  for (const state of states.toReversed?.() ?? [...states].reverse()) {
    if (h.plan !== state) return 'undo brought back something else'
    h = m.undo(h)
  }
  if (h.plan !== start || JSON.stringify(m.save(h.plan)) !== text) return 'all undone is not the beginning'
  for (const state of states.slice(1)) {
    h = m.redo(h)
    if (h.plan !== state) return 'redo brought something else'
  }
  return ''
}

test('random edits keep every promise, and undo brings back exactly what was there', () => {
  for (let seed = 1; seed <= 200; seed++) assert.equal(wrongIn(editor, seed), '', `seed ${seed}`)
})

test('what is not selected is untouched by moving, turning, pricing and marking', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const d = dice(seed), mint = new Mint('n'), plan = load(randomDocument(d), mint)
    const keys = new Set(d.some([...index(plan)].filter(([, at]) => at.seat && at.part).map(([key]) => key), .2))
    const edits = {
      move: editor.move(plan, keys, 3, 4), turn: editor.turn(plan, keys, 30), flag: editor.setFlag(plan, keys, 'restricted-view', true),
      number: editor.numberSeats(plan, keys, {start: '101'}), remove: editor.remove(plan, keys),
    }
    for (const [name, {plan: now}] of Object.entries(edits)) {
      const before = seatsIn(save(plan)), after = seatsIn(save(now))
      for (const [key, at] of index(plan)) {
        if (!at.seat || keys.has(key)) continue
        assert.equal(after.get(at.seat.id), before.get(at.seat.id), `seed ${seed}: ${name} touched ${at.seat.id}`)
        assert.equal(index(now).get(key).seat, at.seat)
      }
      assert.deepEqual(save(now).shapes, save(plan).shapes)
      assert.deepEqual(save(now).categories, save(plan).categories)
    }
    const priced = editor.setCategory(plan, keys, plan.categories[0].key).plan, before = seatsIn(save(plan)), after = seatsIn(save(priced))
    for (const [key, at] of index(plan)) {
      if (!at.seat) continue
      if (!keys.has(key)) assert.equal(after.get(at.seat.id), before.get(at.seat.id), `seed ${seed}: the price of ${at.seat.id} changed`)
      else assert.equal(JSON.parse(after.get(at.seat.id))[5], plan.categories[0].key)
    }
  }
})

test('rows are lettered without I and O, and numbers run as the scheme says', () => {
  const {names, letter, follows, freeName} = editor
  assert.equal(names(10, {start: 'G', skip: 'IO'}).join(' '), 'G H J K L M N P Q R')
  assert.equal(names(4, {start: 'Y', skip: 'IO'}).join(' '), 'Y Z AA AB')
  assert.equal(letter(23, 'IO'), 'Z')
  assert.equal(names(3, {start: '1', step: 2}).join(' '), '1 3 5')
  assert.equal(names(3, {start: '2', step: 2}).join(' '), '2 4 6')
  assert.equal(names(3, {start: 'T08'}).join(' '), 'T08 T09 T10')
  assert.equal(names(3, {start: '12', step: -1}).join(' '), '12 11 10')
  assert.equal(follows(['1', '3', '5']), '7')
  assert.equal(follows(['Table 9']), 'Table 10')
  assert.equal(follows(['Y', 'Z']), 'AA')
  assert.equal(freeName('Stalls', ['Stalls', 'Stalls 2']), 'Stalls 3')
})

const row = (n, numbers) => ({format: 'usher-plan/1', name: 'Row', width: 500, height: 100, categories: [{key: 'A', name: 'A', price: 0}], sections: [{name: 'S', category: 'A', rows: [{row: 'A', seats: Array.from({length: n}, (_, i) => ({id: `s${i}`, number: numbers?.[i] ?? String(i + 1), x: 20 * i, y: 50}))}]}]})
const all = plan => new Set(index(plan).keys())

test('seats are numbered from the left, from the right, or from the middle, odd to one side', () => {
  const plan = load(row(6), new Mint('n')), numbers = scheme => editor.numberSeats(plan, all(plan), scheme).plan.sections[0].rows[0].seats.map(s => s.number).join(' ')
  assert.equal(numbers({start: '1', from: 'left'}), '1 2 3 4 5 6')
  assert.equal(numbers({start: '1', from: 'right'}), '6 5 4 3 2 1')
  assert.equal(numbers({start: '1', step: 2, from: 'left'}), '1 3 5 7 9 11')
  assert.equal(numbers({start: '1', from: 'middle'}), '6 4 2 1 3 5')
})

test('a row is bent and straightened again, and grows at its end', () => {
  const mint = new Mint('n'), plan = load(row(9), mint), bent = editor.layRows(plan, all(plan), {bend: 40}, mint).plan
  const seats = bent.sections[0].rows[0].seats
  assert.ok(seats[0].y < seats[4].y && seats[8].y < seats[4].y, 'its ends come forward')
  const told = editor.lineOf(seats.map(s => [s.x, s.y]))
  assert.ok(Math.abs(told.bend - 40) < 1 && Math.abs(told.spacing - 20) < .3, JSON.stringify(told))
  const straight = editor.layRows(bent, all(bent), {bend: 0, n: 11}, mint).plan.sections[0].rows[0].seats
  assert.deepEqual(straight.map(s => s.number).slice(-3), ['9', '10', '11'])
  assert.ok(straight.every(s => Math.abs(s.y - straight[0].y) < .2))
})

test('chairs stand around round and rectangular tables, none on another', () => {
  for (const shape of [{radius: 30}, {size: [120, 40]}, {size: [40, 120], rotation: 30}]) {
    for (const n of [1, 2, 5, 8, 12]) {
      const points = editor.around({center: [100, 100], ...shape}, n)
      assert.equal(points.length, n)
      for (const [i, a] of points.entries()) for (const b of points.slice(0, i)) assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) > 9, `${n} at ${JSON.stringify(shape)}`)
    }
  }
})

test('the places of an area stay with their ids when it grows, shrinks or takes another form', () => {
  const mint = new Mint('n'), plan = load(row(1), mint), made = editor.makeArea(plan, {outline: [[0, 0], [200, 0], [200, 100], [0, 100]], capacity: 50}, mint)
  const key = [...made.selection][0], ids = p => p.sections.at(-1).area.places.map(x => x.id)
  const more = editor.layArea(made.plan, key, {capacity: 80}, mint).plan, other = editor.layArea(more, key, {outline: [[0, 0], [400, 0], [0, 300]]}, mint).plan
  assert.deepEqual(ids(more).slice(0, 50), ids(made.plan))
  assert.deepEqual(ids(other), ids(more))
  assert.equal(new Set(other.sections.at(-1).area.places.map(p => p.number)).size, 80)
  for (const p of other.sections.at(-1).area.places) assert.ok(p.x >= 0 && p.y >= 0 && 3 * p.x + 4 * p.y <= 1200.5, JSON.stringify(p))
})

test('what keeps a plan from being saved is said with its place', () => {
  const mint = new Mint('n'), plan = load(row(3, ['1', '1', 'a/b']), mint)
  const texts = editor.problems(plan).map(p => p.text)
  assert.ok(texts.some(t => t.includes('S, row A, seat 1')) && texts.some(t => t.includes('a/b')), texts.join('\n'))
  assert.deepEqual(editor.problems(load(row(3), mint)), [])
  assert.deepEqual(editor.problems(load({...row(1), sections: []}, mint)), [], 'an empty plan can be saved')
})

test('a table is marked as sold whole, stays so with another size, and has one price then', () => {
  const mint = new Mint('n'), plan = load({...row(1), categories: [{key: 'A', name: 'A', price: 1}, {key: 'B', name: 'B', price: 2}]}, mint)
  const made = editor.makeTable(plan, {at: [200, 200], seats: 4, whole: true}, undefined, mint), tables = p => p.sections.flatMap(s => s.tables ?? [])
  const [table] = tables(made.plan)
  assert.equal(table.whole, true)
  assert.equal(tables(editor.layTable(made.plan, table[KEY], {seats: 6}, mint).plan)[0].whole, true)
  assert.ok(!('whole' in tables(editor.sellWhole(made.plan, table[KEY], false))[0]))
  const priced = editor.setCategory(made.plan, new Set([table.seats[0][KEY]]), 'B').plan
  assert.ok(editor.problems(priced).some(p => p.text.includes('one price category') && p.keys.includes(table[KEY])))
  assert.deepEqual(editor.problems(made.plan), [])
})

test('a table is shared by parties, or sold whole, and its parties fit it', () => {
  const mint = new Mint('n'), plan = load(row(1), mint)
  const made = editor.makeTable(plan, {at: [200, 200], seats: 4, whole: true}, undefined, mint), table = p => p.sections.flatMap(s => s.tables ?? [])[0]
  const key = table(made.plan)[KEY], shared = editor.share(made.plan, key, {least: 2, most: 4})
  assert.deepEqual([table(shared).shared, 'whole' in table(shared)], [{least: 2, most: 4}, false])
  assert.deepEqual(editor.problems(shared), [])
  assert.ok(!('shared' in table(editor.sellWhole(shared, key, true))))
  const smaller = editor.layTable(shared, key, {seats: 3}, mint).plan
  assert.deepEqual(table(smaller).shared, {least: 2, most: 4})
  assert.ok(editor.problems(smaller).some(p => p.text.includes('has 3 seats') && p.keys.includes(key)))
  assert.ok(!('shared' in table(editor.share(shared, key))))
})

test('a tap finds the seat, its row or its section; a line around selects what is inside', () => {
  const plan = load(row(6), new Mint('n')), at = editor.pick(plan, [41, 52], 6)
  assert.equal(at.seat.number, '3')
  assert.equal(editor.keysOf(at, 'seats').length, 1)
  assert.equal(editor.keysOf(at, 'rows').length, 6)
  assert.equal(editor.enclosed(plan, [[-5, 40], [45, 40], [45, 60], [-5, 60]], 'seats').size, 3)
  assert.equal(editor.pick(plan, [300, 300], 6), undefined)
})

test('steps of one key held down are undone together', () => {
  const plan = load(row(3), new Mint('n'))
  let h = editor.begin(plan)
  for (let i = 0; i < 5; i++) h = editor.act(h, editor.move(h.plan, all(plan), 1, 0), 'nudge')
  h = editor.act(h, editor.move(h.plan, all(plan), 0, 9), 'other')
  assert.equal(editor.undo(editor.undo(h)).plan, plan)
})

test('undo goes back across a save, a step at a time, and says what is not saved', () => {
  const plan = load(row(3), new Mint('n')), nudge = h => editor.act(h, editor.move(h.plan, all(plan), 1, 0), 'nudge')
  let h = nudge(editor.begin(plan))
  const first = h.plan
  h = nudge(editor.saved(h, first)) // the key is still down
  assert.equal(editor.unsaved(h), true)
  h = editor.undo(h)
  assert.equal(h.plan, first)
  assert.equal(editor.unsaved(h), false)
  h = editor.undo(h)
  assert.equal(h.plan, plan)
  assert.equal(editor.unsaved(h), true)
  h = editor.saved(h, plan)
  h = editor.redo(h)
  assert.equal(h.plan, first)
  assert.equal(editor.unsaved(h), true)
})

test('edits, saves, undo and redo leave the picture where it is', () => {
  const state = new editor.State(row(3), new Mint('n')), looked = () => [state.camera.x, state.camera.y, state.camera.scale]
  Object.assign(state.camera, {x: 12, y: -30, scale: 2})
  const before = looked(), keys = new Set(index(state.plan).keys())
  for (const does of [() => state.act(plan => editor.move(plan, keys, -500, 0)), () => state.saved(state.plan), () => state.undo(), () => state.redo(), () => state.undo(), () => state.saved(state.plan)]) {
    does()
    assert.deepEqual(looked(), before)
  }
})

// joins reports whether a key that stays down over a save makes one step of what came before and after.
function joins(m) {
  const plan = m.load(row(3), new m.Mint('n')), nudge = h => m.act(h, m.move(h.plan, new Set(m.index(plan).keys()), 1, 0), 'nudge'), h = nudge(m.begin(plan))
  return m.undo(nudge(m.saved(h, h.plan))).plan !== h.plan
}

// unseen reports whether an undo changes what is on a floor that one does not see.
function unseen(m) {
  const seat = (id, x) => ({id, number: id, x, y: 0}), section = (name, floor, x) => ({name, floor, category: 'A', rows: [{row: '1', seats: [seat(name + '1', x), seat(name + '2', x + 20)]}]})
  const state = new m.State({...row(1), floors: [{name: 'Low'}, {name: 'High'}], sections: [section('S', 'Low', 0), section('T', 'High', 9000)]}, new m.Mint('n'))
  state.toFloor('High')
  state.select([...m.index(state.shown).keys()])
  state.act((plan, keys) => m.move(plan, keys, 5, 0))
  state.toFloor('Low')
  state.undo()
  const [x] = state.camera.screen([9000, 0])
  return state.floor !== 'High' || x < 0 || x > state.camera.width
}

test('undo shows the floor of what it brings back', () => assert.equal(unseen(editor), false))

const planted = {
  'a seat deleted with its neighbour': ['editor_edit', 'part && selection.has(seat[KEY]) ? undefined : seat', 'part && (selection.has(seat[KEY]) || seat.number === "2") ? undefined : seat', 'kept'],
  'an id given twice': ['editor_edit', 'id: mint.id(), [KEY]: mint.key()}\n    copies', 'id: s.id, [KEY]: mint.key()}\n    copies', 'walk'],
  'a plan changed in place': ['editor_model', 'rest : {...object, [field]: value}', 'rest : (object[field] = value, object)', 'walk'],
  'an undo that forgets': ['editor_history', 'past: h.past.slice(0, -1)', 'past: h.past.slice(0, -2)', 'walk'],
  'a step that goes on across a save': ['editor_history', 'saved: plan, mark: undefined', 'saved: plan', joins],
  'an undo on a floor that is not seen': ['editor_state', 'if (this.floor !== floor) this.whole()', '', unseen],
  'a row left empty': ['editor_model', 'now?.seats.length ? now : undefined', 'now', 'walk'],
  'a price lost on the way to another section': ['editor_section', '=== to.category ? undefined : s.category ?? section.category', '=== to.category ? undefined : s.category', 'price'],
}
for (const [name, [script, from, to, by]] of Object.entries(planted)) {
  test(`a planted fault is noticed: ${name}`, async () => {
    const m = await modules(EDITOR, [script, from, to])
    let noticed = typeof by === 'function' && by(m)
    for (let seed = 1; seed <= 200 && !noticed; seed++) {
      if (typeof by === 'function') break
      if (by === 'walk') noticed = wrongIn(m, seed) !== ''
      else noticed = by === 'kept' ? loses(m, seed) : reprices(m, seed)
    }
    assert.ok(noticed)
  })
}

function loses(m, seed) {
  const d = dice(seed), plan = m.load(randomDocument(d), new m.Mint('n')), keys = new Set(d.some([...m.index(plan).keys()], .1))
  const now = m.index(m.remove(plan, keys).plan)
  return [...m.index(plan)].some(([key, at]) => at.seat && at.part && !keys.has(key) && !keys.has(at.part[m.KEY]) && !keys.has(at.section[m.KEY]) && !now.has(key))
}

function reprices(m, seed) {
  const d = dice(seed), mint = new m.Mint('n'), plan = m.load(randomDocument(d), mint), to = plan.sections.find(s => !s.area)
  if (!to) return false
  const costs = p => [...m.index(p).values()].filter(at => at.seat).map(at => `${at.seat.id} ${m.categoryOf(at.seat, at.section)}`).sort().join()
  return costs(m.assignTo(plan, new Set(m.index(plan).keys()), to[m.KEY], mint).plan) !== costs(plan)
}

test('seats keep what they cost in another section, and when it gets another price', () => {
  for (let seed = 1; seed <= 200; seed++) {
    assert.equal(reprices(editor, seed), false, `seed ${seed}`)
    assert.equal(loses(editor, seed), false, `seed ${seed}`)
  }
})

test('ten thousand seats are moved and indexed at once', () => {
  const doc = row(1), mint = new Mint('n')
  doc.sections[0].rows = Array.from({length: 100}, (_, r) => ({row: String(r + 1), seats: Array.from({length: 100}, (_, k) => ({id: `${r}-${k}`, number: String(k + 1), x: 20 * k, y: 24 * r}))}))
  const plan = load(doc, mint), now = editor.move(plan, all(plan), 5, 5).plan
  assert.equal(index(now).size, 10_101)
  assert.equal(now.sections[0].rows[99].seats[99].x, 1985)
})
