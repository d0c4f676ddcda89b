// A day in the editor: rows are moved, named, marked, added and deleted, an area grows, something costs another price, and
// all of it is undone and done again. Told is what each step was meant to change, seats by their ids.

export function day(m, plan, mint) {
  let h = m.begin(plan)
  const told = {moved: [], by: [13, 7.5], renamed: [], row: 'Renamed', flagged: [], flag: 'restricted-view', removed: [], tables: 0, laid: [], added: [], priced: [], category: '', text: 'By the door', wrong: ''}
  const act = f => h = m.act(h, f(h.plan))
  const edit = f => act(plan => ({plan: f(plan), selection: h.selection}))
  const ids = part => part.seats.map(seat => seat.id)
  const all = p => new Map([...m.index(p).values()].filter(at => at.seat).map(at => [at.seat.id, at.seat]))

  const rows = plan.sections.flatMap(section => (section.rows?.length ? section.rows : section.tables ?? []).map(part => ({section, part})))
  const area = plan.sections.find(section => section.area)
  const keys = row => new Set(m.keysOf({...row, seat: row.part.seats[0]}, 'rows'))
  const row = i => rows[Math.min(i, rows.length - 1)]
  if (rows.length) {
    told.moved = ids(row(0).part)
    act(p => m.move(p, keys(row(0)), ...told.by))
    told.renamed = ids(row(1).part)
    edit(p => m.editPart(p, row(1).part[m.KEY], told.row))
    told.flagged = ids(row(2).part)
    act(p => m.setFlag(p, keys(row(2)), told.flag, true))
  }
  const gone = rows.slice(3).find(({section}) => rows.filter(other => other.section === section).length > 1)
  if (gone) {
    told.removed = ids(gone.part)
    told.tables = gone.part.center ? -1 : 0
    act(p => m.remove(p, keys(gone)))
  }
  if (area) {
    told.laid = area.area.places.map(place => place.id)
    act(p => m.layArea(p, area[m.KEY], {capacity: area.area.capacity + 5}, mint))
  }
  act(p => m.makeRows(p, {at: [60, (plan.height ?? 0) + 40], rows: 1, seats: 5}, rows[0]?.section[m.KEY], mint))
  edit(p => m.makeCategory(p, mint))
  told.category = h.plan.categories.at(-1).key
  const dear = rows.length ? row(rows.length - 1) : undefined
  told.priced = dear ? ids(dear.part) : area.area.places.map(place => place.id)
  const chosen = dear ? keys(dear) : new Set([area[m.KEY]])
  act(p => m.setCategory(p, chosen, told.category))
  if (!dear) told.priced = [...told.priced, ...m.placesOf(h.plan.sections.find(s => s[m.KEY] === area[m.KEY])).map(place => place.id)]
  act(p => m.makeShape(p, {kind: 'text', role: 'label', center: [80, (plan.height ?? 0) + 80], text: told.text, size: 12}, mint))

  const was = all(plan)
  told.added = [...all(h.plan).keys()].filter(id => !was.has(id))
  told.wrong = walk(m, h, plan)
  return {plan: m.fitted(h.plan), told}
}

// walk undoes everything and does it again, and tells what is not as it was.
function walk(m, h, start) {
  const end = JSON.stringify(h.plan)
  let at = h
  while (at.past.length) at = m.undo(at)
  if (at.plan !== start) return 'all undone is not the beginning'
  while (at.future.length) at = m.redo(at)
  return JSON.stringify(at.plan) === end && at.past.length === h.past.length ? '' : 'all done again is not the end'
}
