// The keys of the editor. Those of the picture work only while it has the focus; undo, redo and save wherever one does not type.

import {duplicate, move, remove, turn} from 'usher/editor_edit'
import {KEY, index, partsOf} from 'usher/editor_model'
import {keysOf} from 'usher/editor_pick'
import {every} from 'usher/editor_state'

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}

// things are what can be stepped through, as the level says: seats, rows or sections, then shapes.
function things(state) {
  const {shown: plan, level} = state, list = []
  for (const section of plan.sections) {
    if (level === 'sections' || section.area) list.push(keysOf({section}, 'sections'))
    else for (const part of partsOf(section)) {
      if (level === 'rows') list.push(keysOf({section, part}, 'rows'))
      else for (const seat of part.seats) list.push([seat[KEY]])
    }
  }
  return [...list, ...(plan.shapes ?? []).map(s => [s[KEY]])].filter(keys => keys.length)
}

// step selects the thing after the one that is selected, or before it.
export function step(state, by) {
  const list = things(state)
  if (!list.length) return
  const now = list.findIndex(keys => keys.every(key => state.selection.has(key)))
  state.select(list[now < 0 ? (by > 0 ? 0 : list.length - 1) : (now + by + list.length) % list.length])
}

export function keys(canvas, state, {save, cancel, reveal}) {
  const typing = event => event.target.closest('input, select, textarea, dialog')
  document.addEventListener('keydown', event => {
    if (!event.ctrlKey && !event.metaKey || typing(event) && event.key !== 's') return
    const does = {z: () => event.shiftKey ? state.redo() : state.undo(), y: () => state.redo(), s: save}[event.key.toLowerCase()]
    if (!does) return
    event.preventDefault()
    does()
  })
  canvas.addEventListener('keydown', event => {
    const command = event.ctrlKey || event.metaKey
    const does = command ? commands[event.key.toLowerCase()] : plain[event.key]
    if (!does && !ARROWS[event.key]) return
    event.preventDefault()
    if (does) return does(event)
    arrow(event)
  })
  const commands = {
    a: () => state.select(every(state.shown)),
    d: () => state.act((plan, s, mint) => duplicate(plan, s, 20, 20, mint)),
  }
  const plain = {
    Delete: () => state.act(remove), Backspace: () => state.act(remove),
    Escape() {
      cancel()
      if (state.tool !== 'select') state.use('select')
      else state.select([])
    },
    '.'() { step(state, 1); reveal() }, ','() { step(state, -1); reveal() },
    '[': event => state.act((plan, s) => turn(plan, s, event.shiftKey ? -1 : -15), 'turn'), ']': event => state.act((plan, s) => turn(plan, s, event.shiftKey ? 1 : 15), 'turn'),
    '+'() { state.camera.zoom(1.25); state.look() }, '-'() { state.camera.zoom(.8); state.look() }, 0: () => state.whole(),
  }

  function arrow(event) {
    const [x, y] = ARROWS[event.key], by = event.shiftKey ? 1 : 10
    if (!state.selection.size) {
      state.camera.pan(-x * 60, -y * 60)
      return state.look()
    }
    state.act((plan, s) => move(plan, s, x * by, y * by), `arrow ${state.selection.size} ${state.selection.values().next().value}`)
  }
}

export const has = (state, key) => index(state.plan).has(key)
