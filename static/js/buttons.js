// The buttons that move the map. On phones they are in a menu, so that they cover no seats.

import {T} from 'usher/text'

// What stands on the map to move it, in the order of the Tab key. Without scripts there is nothing to move.
const BUTTONS = [
  ['pan', 'Up', T('Move up'), 'M4 10l4-4 4 4'], ['pan', 'Left', T('Move left'), 'M10 4L6 8l4 4'],
  ['pan', 'Down', T('Move down'), 'M4 6l4 4 4-4'], ['pan', 'Right', T('Move right'), 'M6 4l4 4-4 4'],
  ['zoom', 'in', T('Zoom in'), 'M8 3v10M3 8h10'], ['zoom', 'out', T('Zoom out'), 'M3 8h10'],
  ['zoom', 'all', T('Back to full map'), 'M6 3H3v3m7-3h3v3M6 13H3v-3m7 3h3v-3'],
]
const wide = matchMedia('(min-width: 60rem)')
const button = ([kind, what, name, sign]) => `<button type="button" data-${kind}="${what}" aria-label="${name}"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="${sign}"/></svg></button>`
const KEYS = {ArrowLeft: [-.25, 0], ArrowRight: [.25, 0], ArrowUp: [0, -.25], ArrowDown: [0, .25]}

// buttons lets the zoom buttons, and the arrow keys while one of them has the focus, move a view.
export function buttons(view, whole) {
  const group = document.querySelector('.zoom')
  group.innerHTML = BUTTONS.map(button).join('')
  group.hidden = false
  const menu = group.closest('details')
  menu.hidden = false
  const open = () => { menu.open = wide.matches }
  open()
  wide.addEventListener('change', open)
  menu.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || wide.matches) return
    menu.open = false
    menu.firstElementChild.focus()
  })
  group.addEventListener('click', event => {
    const {zoom: what, pan} = event.target.closest('button')?.dataset ?? {}
    if (pan) view.pan(...KEYS[`Arrow${pan}`])
    else if (what === 'all') whole()
    else if (what) view.zoom(what === 'in' ? 1.8 : 1 / 1.8)
  })
  group.addEventListener('keydown', event => {
    if (!(event.key in KEYS)) return
    event.preventDefault()
    view.pan(...KEYS[event.key])
  })
}
