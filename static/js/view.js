// Where the map is looked at, and how hands, wheels and buttons move that.

import {calm} from 'usher/page'

const FLIGHT = 320, STILL = 8, LONG = 500 // ms of a flight; px of travel below which a press is a tap; ms of a tap at most
const REST = 120 // ms after which a wheel has come to rest
const SETTLED = 200, MOST = .6 // ms after which a sheet over the map has its height; the part of the map that it hides at most

// View is scale in CSS pixels per plan unit, and the plan's point in the upper left corner.
// It sends "move", the last time when it is not moving any more, and "tap" with detail = {x, y, touch}; "press" with the same for a finger that stays.
export class View extends EventTarget {
  scale = 1; x = 0; y = 0
  moving = false
  #pointers = new Map()
  #flight
  #travel = 0
  #later // when a press is a long one, or a wheel rests
  #settling // when the sheet over the map has its height
  #pressed = false // for long, or with two fingers: no tap any more

  constructor(frame, canvas, box) {
    super()
    Object.assign(this, {frame, canvas, box})
    this.#measure()
    this.fit()
    new ResizeObserver(() => this.#resize()).observe(frame)
    if (this.#sheet) new ResizeObserver(() => this.#settle()).observe(this.#sheet)
    for (const [type, does] of Object.entries({pointerdown: this.#down, pointermove: this.#move, pointerup: this.#up, pointercancel: this.#up})) {
      canvas.addEventListener(type, event => does.call(this, event))
    }
    canvas.addEventListener('wheel', event => this.#wheel(event), {passive: false})
  }

  // #measure tells whether there is another room than before. A canvas that is given a size, be it the same, is empty.
  #measure() {
    const width = Math.max(this.frame.clientWidth, 1) // a page without its style yet has no size
    const height = Math.max(this.frame.clientHeight, 1)
    const ratio = Math.min(devicePixelRatio || 1, 3), room = height - this.#covered(height)
    const alike = `${[width, height, ratio]}` === `${[this.width, this.height, this.ratio]}`
    if (alike && room === this.room) return false
    Object.assign(this, {width, height, ratio, room, least: Math.min(width / this.box.w, room / this.box.h)})
    if (alike) return true
    this.canvas.width = Math.round(width * ratio)
    this.canvas.height = Math.round(height * ratio)
    return true
  }

  // #covered is how much of the map's height lies below the sheet.
  #covered(height) {
    const sheet = this.#sheet
    return sheet && getComputedStyle(sheet).position === 'absolute' ? Math.min(sheet.offsetHeight, height * MOST) : 0
  }
  get #sheet() { return this.frame.parentNode?.querySelector('.drawer') }
  // #settle is #resize once a sheet that is dragged, or slides, is where it stays.
  #settle() {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#resize(), SETTLED)
  }
  #resize() {
    const whole = this.whole, cx = this.x + this.width / this.scale / 2, cy = this.y + this.height / this.scale / 2
    if (!this.#measure()) return // a new observer is called at once
    if (whole) this.fit()
    else this.#set(this.scale, cx - this.width / this.scale / 2, cy - this.height / this.scale / 2)
  }

  // bound shows all of another part of the plane; one looks at nothing beyond it.
  bound(box) {
    this.box = box
    this.width = 0 // it is measured anew
    this.#measure()
    this.fit()
  }

  get whole() { return this.scale <= this.least * 1.02 }
  plan(px, py) { return [px / this.scale + this.x, py / this.scale + this.y] }

  #set(scale, x, y, moving = false) {
    const {box} = this
    this.moving = moving
    this.scale = Math.min(Math.max(scale, this.least), Math.max(this.most ?? 8, this.least))
    const w = this.width / this.scale, h = this.room / this.scale
    const within = (at, low, size, room) => room >= size ? low + (size - room) / 2 : Math.min(Math.max(at, low), low + size - room)
    this.x = within(x, box.x, box.w, w)
    this.y = within(y, box.y, box.h, h)
    this.dispatchEvent(new Event('move'))
  }

  // around is the view that shows a rectangle, with some room.
  around({left, top, right, bottom}, most = Infinity) {
    const scale = Math.min(this.width / ((right - left) * 1.16 || 1), this.room / ((bottom - top) * 1.16 || 1), most)
    return [scale, (left + right - this.width / scale) / 2, (top + bottom - this.room / scale) / 2]
  }
  get all() { return this.around({left: this.box.x, top: this.box.y, right: this.box.x + this.box.w, bottom: this.box.y + this.box.h}, this.least) }
  fit() { this.#set(...this.all) }
  show(rectangle, most) { this.fly(...this.around(rectangle, most)) }
  jump(rectangle, most) { this.#set(...this.around(rectangle, most)) }

  fly(scale, x, y) {
    cancelAnimationFrame(this.#flight)
    if (calm.matches) return this.#set(scale, x, y)
    const from = [this.scale, this.x, this.y], began = performance.now()
    const step = now => {
      const t = Math.min(1, Math.max(0, now - began) / FLIGHT), ease = 1 - (1 - t) ** 3
      const s = from[0] * (scale / from[0]) ** ease
      // The corner follows the scale, so that the flight goes straight.
      const part = scale === from[0] ? ease : (1 / from[0] - 1 / s) / (1 / from[0] - 1 / scale)
      this.#set(s, from[1] + (x - from[1]) * part, from[2] + (y - from[2]) * part, t < 1)
      if (t < 1) this.#flight = requestAnimationFrame(step)
    }
    this.#flight = requestAnimationFrame(step)
  }

  zoom(by, px = this.width / 2, py = this.height / 2, fly = true) {
    const scale = Math.min(Math.max(this.scale * by, this.least), this.most ?? 8), [x, y] = this.plan(px, py)
    const to = [scale, x - px / scale, y - py / scale]
    if (fly) this.fly(...to)
    else this.#set(...to, true)
  }
  pan(dx, dy) { this.fly(this.scale, this.x + dx * this.width / this.scale, this.y + dy * this.height / this.scale) }

  // #rest says that nothing moves any more.
  #rest() { if (this.moving) this.#set(this.scale, this.x, this.y) }

  // at is where on the map a hand is, in px.
  at(event) {
    const r = this.canvas.getBoundingClientRect()
    return {x: event.clientX - r.left, y: event.clientY - r.top}
  }
  #down(event) {
    if (event.button) return
    cancelAnimationFrame(this.#flight)
    this.canvas.setPointerCapture(event.pointerId)
    if (this.#pointers.size === 0) [this.#travel, this.#pressed] = [0, false]
    const at = this.at(event)
    this.#pointers.set(event.pointerId, at)
    if (this.#pointers.size > 1) this.#pressed = true
    clearTimeout(this.#later)
    if (event.pointerType === 'touch' && this.#pointers.size === 1) this.#later = setTimeout(() => this.#press(at), LONG)
  }
  // #press is a finger that stayed where it came down: it is told what is there, and its end is no tap.
  #press(at) {
    if (this.#travel >= STILL || !this.#pointers.size) return
    this.#travel = 0
    this.#pressed = true
    this.dispatchEvent(new CustomEvent('press', {detail: {...at, touch: true}}))
  }
  #move(event) {
    const was = this.#pointers.get(event.pointerId)
    if (!was) return
    const now = this.at(event), others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p)
    this.#travel += Math.hypot(now.x - was.x, now.y - was.y)
    this.#pointers.set(event.pointerId, now)
    if (this.#travel < STILL) return
    clearTimeout(this.#later)
    const fixed = others[0]
    if (!fixed) return this.#set(this.scale, this.x - (now.x - was.x) / this.scale, this.y - (now.y - was.y) / this.scale, true)
    const by = Math.hypot(now.x - fixed.x, now.y - fixed.y) / (Math.hypot(was.x - fixed.x, was.y - fixed.y) || 1)
    this.zoom(by, fixed.x, fixed.y, false)
  }
  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return
    clearTimeout(this.#later)
    if (this.#pointers.size) return
    this.#rest()
    if (event.type === 'pointerup' && !this.#pressed && this.#travel < STILL) {
      this.dispatchEvent(new CustomEvent('tap', {detail: {...this.at(event), touch: event.pointerType !== 'mouse'}}))
    }
  }
  #wheel(event) {
    event.preventDefault()
    cancelAnimationFrame(this.#flight)
    const {x, y} = this.at(event)
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? .05 : event.ctrlKey ? .01 : .0016)), x, y, false)
    clearTimeout(this.#later)
    this.#later = setTimeout(() => this.#rest(), REST)
  }
}
