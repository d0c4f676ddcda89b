// Floors: one is seen and drawn on at a time. A floor has a name and a place (at) in the drawing, where the floors do not
// cover each other: the box office moves them apart when the plan is saved.

import {KEY, assign, mapSections, mapShapes, mapped, set} from 'usher/editor_model'
import {transform} from 'usher/editor_edit'
import {mover} from 'usher/editor_shape'
import {freeName} from 'usher/editor_number'
import {button, el, field, group} from 'usher/editor_dom'
import {T} from 'usher/text'

// shown is what a plan has on one floor; the plan itself if it has none.
const views = new WeakMap()
export function shown(plan, floor) {
  if (!plan.floors) return plan
  let made = views.get(plan)
  if (made?.floor !== floor) {
    const here = list => list?.filter(thing => thing.floor === floor)
    views.set(plan, made = {floor, plan: {...plan, sections: here(plan.sections), shapes: here(plan.shapes), underlays: here(plan.underlays)}})
  }
  return made.plan
}

// placed is a plan in which everything is on a floor: what was just made is on the one that is seen.
export function placed(plan, floor) {
  const put = thing => thing.floor ? thing : set(thing, 'floor', floor)
  return plan.floors ? mapShapes(mapSections(plan, put), put) : plan
}

const names = plan => (plan.floors ?? []).map(f => f.name)
const named = (plan, was, name) => {
  const put = thing => thing.floor === was ? set(thing, 'floor', name) : thing
  const now = mapShapes(mapSections(plan, put), put)
  return set(now, 'underlays', mapped(now.underlays, put))
}

// addFloor adds a floor above the one that is seen, with the same place in the drawing. The first two come together: what was
// drawn so far is on the first of them.
export function addFloor(plan, floor) {
  if (!plan.floors) {
    const first = T('Floor %s', '1'), floors = [{name: first}, {name: T('Floor %s', '2')}]
    return set(named(plan, undefined, first), 'floors', floors)
  }
  const at = plan.floors.find(f => f.name === floor)?.at
  return set(plan, 'floors', [...plan.floors, {name: freeName(T('Floor %s', String(plan.floors.length + 1)), names(plan)), ...at && {at}}])
}

export function renameFloor(plan, was, name) {
  if (!name || name === was || names(plan).includes(name)) return plan
  return set(named(plan, was, name), 'floors', mapped(plan.floors, f => f.name === was ? {...f, name} : f))
}

export const isEmpty = (plan, floor) => !shown(plan, floor).sections.length && !shown(plan, floor).shapes?.length

// removeFloor takes away an empty floor. One that is left alone is no floor any more.
export function removeFloor(plan, floor) {
  if (!isEmpty(plan, floor)) return plan
  const underlays = plan.underlays?.filter(u => u.floor !== floor)
  const now = assign(plan, {floors: plan.floors.filter(f => f.name !== floor), underlays: underlays?.length ? underlays : undefined})
  return now.floors.length > 1 ? now : set(named(now, now.floors[0].name, undefined), 'floors', undefined)
}

// earlier moves a floor one place towards the first, which visitors see first.
export function earlier(plan, floor) {
  const i = names(plan).indexOf(floor), floors = [...plan.floors]
  if (i < 1) return plan
  ;[floors[i - 1], floors[i]] = [floors[i], floors[i - 1]]
  return set(plan, 'floors', floors)
}

// toFloor puts sections and shapes on another floor, where they stood on theirs.
export function toFloor(plan, keys, thing, floor) {
  const at = name => plan.floors.find(f => f.name === name)?.at ?? [0, 0], [fx, fy] = at(thing.floor), [x, y] = at(floor)
  const moved = transform(plan, keys, mover(x - fx, y - fy)).plan
  const put = t => keys.has(t[KEY]) ? set(t, 'floor', floor) : t
  return mapShapes(mapSections(moved, put), put)
}

// floorFields is the part of the panel that is about floors.
export function floorFields(state) {
  const {plan} = state, act = f => state.act(p => ({plan: f(p)}))
  const add = button(T('Add a floor'), () => {
    const before = names(plan)
    act(p => addFloor(p, state.floor))
    state.toFloor(names(state.plan).filter(n => !before.includes(n)).at(-1))
  })
  return group(T('Floors'),
    !plan.floors && el('p', {class: 'hint'}, T('A house with a balcony has two floors. Visitors see one at a time and switch between them.')),
    plan.floors && el('ul', {class: 'floors-list'}, plan.floors.map((f, i) => el('li', {class: 'entry'},
      field(T('Floor %s', String(i + 1)), f.name, name => {
        const seen = state.floor === f.name
        act(p => renameFloor(p, f.name, name.trim()))
        if (seen && state.plan.floors.some(o => o.name === name.trim())) state.toFloor(name.trim())
      }, {maxlength: 100}),
      i > 0 && button('↑', () => act(p => earlier(p, f.name)), {class: 'turn', 'aria-label': T('%s: earlier', f.name)}),
      isEmpty(plan, f.name) && button('×', () => act(p => removeFloor(p, f.name)), {class: 'turn', 'aria-label': T('Remove the floor %s', f.name)})))),
    add)
}
