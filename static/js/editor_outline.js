// The plan as a list: sections, their rows, their seats. Everything that can be selected in the picture can be selected
// here, with the keys of any list.

import {KEY, labelOf, partsOf, seatCount, seatsOf, words} from 'usher/editor_model'
import {keysOf} from 'usher/editor_pick'
import {makeSection, shift} from 'usher/editor_section'
import {button, el, fill} from 'usher/editor_dom'
import {T} from 'usher/text'
import {number} from 'usher/page'

const opened = new Set() // keys of open sections and rows

// showOutline fills the list.
export function showOutline(node, state) {
  const {plan, selection} = state
  const pressed = keys => keys.length > 0 && keys.every(key => selection.has(key))
  const toggle = keys => event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return pressed(keys) ? state.deselect(keys) : state.select(keys, true)
    state.select(keys)
  }
  const item = (keys, text, key, more = {}) => button(text, toggle(keys), {'aria-pressed': String(pressed(keys)), 'data-key': key, ...more})

  const seats = (section, part) => el('ul', {class: 'chairs'}, part.seats.map(seat => el('li', {}, item([seat[KEY]], seat.number, seat[KEY], {'aria-label': T('Seat %s', seat.number)}))))
  const row = section => part => el('li', {}, line(item(keysOf({section, part}, 'rows'), part.table ?? T('Row %s', part.row), part[KEY]), `${part.seats.length}`, part, () => seats(section, part), text => T('Seats of %s', text)))
  const rows = section => el('ul', {}, partsOf(section).map(row(section)))

  function line(select, count, thing, inside, what) {
    const key = thing[KEY], open = opened.has(key)
    const turn = () => { open ? opened.delete(key) : opened.add(key); showOutline(node, state) }
    return [
      el('div', {class: 'entry'}, inside && button(open ? '−' : '+', turn, {class: 'turn', 'aria-expanded': String(open), 'aria-label': what(select.textContent), 'data-key': `turn ${key}`}), select, el('span', {class: 'count'}, count),
        button('↑', () => state.act(p => ({plan: shift(p, key, -1)})), {class: 'turn', 'aria-label': T('%s: earlier', select.textContent), 'data-key': `up ${key}`}), button('↓', () => state.act(p => ({plan: shift(p, key, 1)})), {class: 'turn', 'aria-label': T('%s: later', select.textContent), 'data-key': `down ${key}`})),
      open && inside?.(),
    ].filter(Boolean)
  }

  const list = sections => sections.map(section => {
    const count = section.area ? section.area.capacity : seatsOf(section).length
    return el('li', {}, line(item(keysOf({section}, 'sections'), section.name, section[KEY]), String(count), section, section.area ? undefined : () => rows(section), text => T('Rows of %s', text)))
  })
  const floors = plan.floors?.map(({name}) => [el('h2', {}, name), el('ul', {class: 'tree'}, list(plan.sections.filter(s => s.floor === name)))])
  const shapes = (plan.shapes ?? []).map(shape => el('li', {}, el('div', {class: 'entry'}, item([shape[KEY]], words(plan, shape[KEY]), shape[KEY]))))
  fill(node,
    el('p', {class: 'hint'}, T('Hold Ctrl or Shift to select more than one.')),
    ...floors?.flat() ?? [plan.sections.length > 0 && el('ul', {class: 'tree'}, list(plan.sections))],
    button(T('New section'), () => state.act((p, _, mint) => makeSection(p, T('Section'), mint))),
    shapes.length > 0 && el('h2', {}, T('Shapes and texts')), shapes.length > 0 && el('ul', {class: 'tree'}, shapes),
    el('p', {class: 'hint'}, T('Sections: %s. Seats: %s.', number(plan.sections.length), number(seatCount(plan)))))
}
