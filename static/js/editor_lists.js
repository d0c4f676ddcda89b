// The panels about the plan as a whole: its name, its categories, and what keeps it from being saved.

import {KEY, categoryOf, index, set} from 'usher/editor_model'
import {costs, editCategory, makeCategory, removeCategory} from 'usher/editor_make'
import {problems} from 'usher/editor_section'
import {button, el, field, fill, group} from 'usher/editor_dom'
import {floorFields} from 'usher/editor_floors'
import {underlayFields} from 'usher/editor_under'
import {N, T} from 'usher/text'

const money = minor => (minor / 100).toFixed(2)

export function showCategories(node, state, colours) {
  const {plan} = state, counts = new Map()
  for (const at of index(plan).values()) if (at.seat) counts.set(categoryOf(at.seat, at.section), (counts.get(categoryOf(at.seat, at.section)) ?? 0) + 1)
  const colour = colours(plan)
  fill(node, plan.categories.map(c => {
    const edit = fields => state.act(p => ({plan: editCategory(p, c[KEY], fields)}))
    return group(`${c.key} · ${c.name}`, el('div', {class: 'pair'},
      field(T('Key'), c.key, text => text.trim() && edit({key: text.trim()}), {maxlength: 20}),
      field(T('Name'), c.name, text => text.trim() && edit({name: text.trim()}), {maxlength: 100}),
      field(T('Price'), money(c.price), text => {
        const n = Math.round(Number(text.replace(',', '.')) * 100)
        if (Number.isFinite(n) && n >= 0) edit({price: n})
      }, {inputmode: 'decimal'}),
      field(T('Colour'), colour.get(c.key), text => edit({color: text}), {type: 'color'})),
    el('p', {class: 'hint'}, N('%d seat', '%d seats', counts.get(c.key) ?? 0)),
    !costs(plan, c.key) && plan.categories.length > 1 && button(T('Delete'), () => state.act(p => ({plan: removeCategory(p, c[KEY])})), {class: 'danger', 'aria-label': T('Delete category %s', c.key)}))
  }), button(T('New category'), () => state.act((p, _, mint) => ({plan: makeCategory(p, mint)}))),
  el('p', {class: 'hint'}, T('Prices are in the currency of the event, with two decimals. Each event may have its own.')))
}

export function showPlan(node, state, send, say) {
  const {plan} = state, found = problems(plan), edit = fields => state.act(p => ({plan: Object.entries(fields).reduce((q, [f, v]) => set(q, f, v), p)}))
  fill(node,
    group(T('Plan'), field(T('Name of the plan'), plan.name, name => edit({name: name.trim()}), {maxlength: 100}),
      el('p', {class: 'hint'}, plan.focus ? T('The best seats are near the point marked with a cross.') : T('The best seats are near the stage, or the upper middle.')),
      el('div', {class: 'buttons'}, button(T('Mark where people look'), () => state.use('focus')), plan.focus && button(T('No mark'), () => edit({focus: undefined})))),
    floorFields(state),
    underlayFields(state, send, say),
    found.length ? group(T('To fix'), el('ul', {class: 'problems'}, found.slice(0, 50).map(p => el('li', {}, p.keys.length ? button(p.text, () => state.select(p.keys.filter(k => k !== undefined))) : p.text)))) : el('p', {class: 'hint'}, T('This plan can be saved.')))
}
