// The pointer and the wheel on the picture: one finger or button uses the tool, two fingers, the middle button or the space
// bar move the view.

import {pick, nameAt} from 'usher/editor_pick'
import {tools, done} from 'usher/editor_tools'

export function hand(canvas, state, card) {
  const pointers = new Map()
  let gesture, space = false, travel = 0, pinch

  const at = event => {
    const r = canvas.getBoundingClientRect()
    return [event.clientX - r.left, event.clientY - r.top]
  }
  const plan = event => state.camera.plan(...at(event))

  canvas.addEventListener('pointerdown', event => {
    if (event.button > 1) return
    canvas.setPointerCapture(event.pointerId)
    pointers.set(event.pointerId, at(event))
    card.hidden = true
    if (pointers.size === 2) {
      gesture?.cancel()
      gesture = undefined
      pinch = spread()
      return
    }
    travel = 0
    if (event.button === 1 || space || state.tool === 'pan') return
    gesture = tools[state.tool]?.(state, plan(event), event, (event.pointerType === 'touch' ? 14 : 5) / state.camera.scale)
  })

  canvas.addEventListener('pointermove', event => {
    const was = pointers.get(event.pointerId)
    if (!was) return hover(event)
    const now = at(event)
    pointers.set(event.pointerId, now)
    travel += Math.hypot(now[0] - was[0], now[1] - was[1])
    if (pinch) return pinched()
    if (gesture?.pans && travel > 8) gesture = undefined
    if (gesture) {
      if (travel > 3) gesture.move(plan(event), event)
      return
    }
    state.camera.pan(now[0] - was[0], now[1] - was[1])
    state.look()
  })

  const up = event => {
    if (!pointers.delete(event.pointerId)) return
    pinch = undefined
    const ended = gesture
    gesture = undefined
    if (event.type === 'pointercancel') return ended?.cancel()
    if (ended) ended.end(plan(event))
    else if (travel < 4 && state.tool === 'select' && event.button !== 1 && !space) state.select([])
  }
  canvas.addEventListener('pointerup', up)
  canvas.addEventListener('pointercancel', up)
  canvas.addEventListener('pointerleave', () => { card.hidden = true })

  // spread is the middle of two fingers and how far they are apart.
  function spread() {
    const [a, b] = [...pointers.values()]
    return {x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, d: Math.hypot(a[0] - b[0], a[1] - b[1])}
  }
  function pinched() {
    if (pointers.size < 2) return
    const now = spread()
    state.camera.pan(now.x - pinch.x, now.y - pinch.y)
    state.camera.zoom(now.d / (pinch.d || 1), now.x, now.y)
    pinch = now
    state.look()
  }

  canvas.addEventListener('wheel', event => {
    event.preventDefault()
    if (event.shiftKey) state.camera.pan(-event.deltaY, 0)
    else state.camera.zoom(1.0015 ** -event.deltaY, ...at(event))
    state.look()
  }, {passive: false})

  function hover(event) {
    if (event.pointerType !== 'mouse') return
    const name = state.tool === 'select' ? nameAt(pick(state.shown, plan(event), 5 / state.camera.scale)) : ''
    card.hidden = !name
    card.textContent = name
    const [x, y] = at(event)
    card.style.transform = `translate(${Math.min(x + 14, state.camera.width - card.offsetWidth - 8)}px, ${y + 18}px)`
  }

  canvas.addEventListener('keydown', event => {
    if (event.key === ' ') {
      space = true
      event.preventDefault()
    }
  })
  canvas.addEventListener('keyup', event => { if (event.key === ' ') space = false })
  canvas.addEventListener('blur', () => { space = false })
  return {cancel() { gesture?.cancel(); gesture = undefined; done(state) }}
}
