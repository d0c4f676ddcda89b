// Drawing the seats: colour says what a seat costs, shape and filling say whether it can be had.
// Free is a full disc, held a hollow ring, sold a small dot, not for sale a cross, mine a disc with a tick, mine until my
// time ran out a broken ring with a core; wheelchair places are squares. Colours that some people could take for each other
// have patterns: a ring inside, or a bar. What is not looked for is faint.

import {Sheet, pen, wipe} from 'usher/sheet'

export const DOT = 1.7 // radius in CSS pixels from which seats are discs
const NUMBER = 9 // … and from which they have numbers
const HUES = 9, BARRED = 2 // colours; the pattern of categories beyond them
const ACCESSIBLE = 1
const STATES = ['free', 'held', 'sold', 'blocked'] // as they travel
const FAINT = .22 // of what does not fit the filter
const EVERY = {on: () => false, fits: () => true} // looks for nothing
const MANY = 64 // discs that are drawn in one go

// colours reads the theme from the style sheet; with forced colours those of the system.
export function colours() {
  const css = getComputedStyle(document.documentElement), get = name => css.getPropertyValue(name).trim()
  if (matchMedia('(forced-colors: active)').matches) {
    return {prices: Array(HUES).fill('CanvasText'), mine: 'Highlight', lapsed: 'Highlight', onMine: 'HighlightText', held: 'GrayText', blocked: 'GrayText', sold: 'GrayText', focus: 'Highlight'}
  }
  const prices = Array.from({length: HUES}, (_, i) => get(`--p${i}`))
  return {prices, marks: prices.map((_, i) => +get(`--m${i}`)), ground: get('--bg'), mine: get('--mine'), lapsed: get('--alarm'), onMine: get('--on-mine'), held: get('--held'), blocked: get('--edge'), sold: get('--sold'), focus: get('--focus')}
}

function sprite(kind, colour, theme, r, ratio) {
  const {state} = kind, hollow = state === 'held' || state === 'lapsed'
  const size = Math.ceil((r + 2) * 2 * ratio), g = pen()
  g.canvas.width = g.canvas.height = size
  g.translate(size / 2, size / 2)
  g.scale(ratio, ratio)
  g.fillStyle = g.strokeStyle = colour
  g.lineWidth = Math.max(1, r * .2)
  g.beginPath()
  if (state === 'blocked') cross(g, r * .42)
  else if (kind.wheel) g.roundRect(-r * .92, -r * .92, r * 1.84, r * 1.84, r * .45)
  else g.arc(0, 0, state === 'sold' ? r * .42 : hollow ? r * .8 : r, 0, 7)
  if (state === 'lapsed') core(g, r)
  if (hollow || state === 'blocked') g.stroke()
  else g.fill()
  if (kind.mark) pattern(g, kind.mark, theme.ground, r)
  if (state === 'mine') tick(g, theme.onMine, r)
  return g.canvas
}

// pattern marks an available seat: a thin ring near its edge, or a bar across. Its number stays free.
function pattern(g, mark, colour, r) {
  g.strokeStyle = colour
  g.lineWidth = Math.max(.8, r * .14)
  g.beginPath()
  if (mark === BARRED) g.rect(-r - 1, -r * .6, r * 2 + 2, r * 1.2)
  else g.arc(0, 0, r * .68, 0, 7)
  g.stroke()
}

function cross(g, r) {
  for (const side of [-1, 1]) {
    g.moveTo(-r, -r * side)
    g.lineTo(r, r * side)
  }
}

function core(g, r) {
  g.setLineDash([r * .5, r * .34])
  g.stroke()
  g.beginPath()
  g.arc(0, 0, r * .34, 0, 7)
  g.fill()
  g.beginPath()
}

function tick(g, colour, r) {
  g.strokeStyle = colour
  g.lineWidth = Math.max(1.2, r * .24)
  g.lineCap = g.lineJoin = 'round'
  g.beginPath()
  g.moveTo(-r * .42, r * .04)
  g.lineTo(-r * .1, r * .36)
  g.lineTo(r * .44, -r * .3)
  g.stroke()
}

// Painter draws the seats of a house on a sheet, and what is seen above them on the canvas itself.
export class Painter extends Sheet {
  #sprites = new Map()
  #pixels
  constructor(canvas, house, hold, live, numberOf, filter = EVERY) {
    super(canvas)
    Object.assign(this, {house, hold, live, numberOf, filter})
    this.recolour()
  }
  recolour() {
    this.theme = colours()
    this.touch()
    this.#sprites.clear()
    const {prices, held, sold, mine, lapsed} = this.theme
    this.packed = {prices: prices.map(packed), held: packed(held), sold: packed(sold), blocked: 0, mine: packed(mine), lapsed: packed(lapsed)}
  }
  // colour is a seat's, of the theme or of that packed.
  colour(idx, state, of) { return state === 'free' ? of.prices[this.house.category[idx] % HUES] : of[state] }

  state(idx) {
    if (this.hold.has(idx)) return 'mine'
    if (this.hold.ghost(idx)) return 'lapsed'
    const s = this.live.states ? this.live.states[idx] : 0
    if (s === 1 && this.hold.asked.get(idx) === false) return 'free'
    return STATES[s]
  }

  // usual is the pixels of seats of other visitors, for each price and state: to look into each of 50,000 takes long.
  usual() { return Uint32Array.from({length: HUES * 4}, (_, i) => i % 4 ? this.packed[STATES[i % 4]] : this.packed.prices[i >> 2]) }

  // #own are the seats that may look otherwise here than to everybody.
  #own() { return new Set([...this.hold.seats.keys(), ...this.hold.asked.keys()]) }

  // faint reports whether a seat is none of those that are looked for; what is mine is always seen.
  faint(idx, state) { return state !== 'mine' && state !== 'lapsed' && !this.filter.fits(idx) }

  #seen({x, y, scale, width, height}) {
    return this.house.sections.filter(s => s.pitch && this.house.here(s) && (s.right - x) * scale > -9 && (s.left - x) * scale < width + 9 &&
      (s.bottom - y) * scale > -9 && (s.top - y) * scale < height + 9)
  }

  // all draws every seat, dots or discs.
  *all(g, view) {
    const seen = this.#seen(view), small = seen.filter(s => radius(s, view) < DOT)
    wipe(g)
    if (small.length) yield* this.#dots(g, small, view)
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    for (const s of seen) if (!small.includes(s)) yield* this.#discs(g, s, view)
    this.#mine(g, small, view)
  }

  // some draws seats that changed, where all in view are discs.
  some(g, view, idxs) {
    const seen = this.#seen(view)
    if (seen.some(s => radius(s, view) < DOT)) return false
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    g.fillStyle = '#000'
    for (const idx of idxs) {
      const s = this.house.sections[this.house.section[idx]]
      if (seen.includes(s)) this.#disc(g, s, idx, view, true)
    }
    return true
  }

  *#dots(g, sections, view) {
    const {width, height} = g.canvas
    if (this.#pixels?.width !== width || this.#pixels.height !== height) this.#pixels = new ImageData(width, height)
    const to = new Uint32Array(this.#pixels.data.buffer).fill(0)
    const {house, packed} = this, {states} = this.live, usual = this.usual(), own = this.#own(), sought = this.filter.on(), k = view.scale * view.ratio
    for (const s of sections) {
      yield
      const size = Math.max(1, Math.round(s.pitch * k * .62))
      for (let idx = s.first; idx < s.first + s.count; idx++) {
        const sx = house.x[idx], sy = house.y[idx]
        let state = states ? states[idx] : 0, colour
        if (usual && !own.has(idx)) colour = usual[house.category[idx] % HUES * 4 + state]
        else {
          const name = this.state(idx)
          colour = this.colour(idx, name, packed)
          state = name === 'free' || name === 'mine' ? 0 : 1
        }
        if (sought && !own.has(idx) && !this.filter.fits(idx)) colour = colour & 0xffffff | colour >>> 2 & 0x3f000000
        const side = state ? Math.max(1, size >> 1) : size, x = Math.round((sx - view.x) * k - side / 2), y = Math.round((sy - view.y) * k - side / 2)
        if (x < 0 || y < 0 || x + side > width || y + side > height) continue
        for (let row = y * width + x, end = row + side * width; row < end; row += width) {
          for (let at = row; at < row + side; at++) to[at] = colour
        }
      }
    }
    g.putImageData(this.#pixels, 0, 0)
  }

  // #mine makes the attendee's own seats easy to find where seats are only dots, and those that were.
  #mine(g, sections, view) {
    for (const idx of this.#own()) {
      const state = this.state(idx)
      if (state !== 'mine' && state !== 'lapsed' || !sections.includes(this.house.sections[this.house.section[idx]])) continue
      const x = (this.house.x[idx] - view.x) * view.scale, y = (this.house.y[idx] - view.y) * view.scale
      this.#stamp(g, {state}, this.theme[state], 6, x, y, view.ratio)
    }
  }

  *#discs(g, s, view) {
    for (let idx = s.first; idx < s.first + s.count; idx++) {
      if (idx % MANY === 0) yield
      this.#disc(g, s, idx, view)
    }
  }

  #disc(g, s, idx, view, wipe) {
    const {house, theme} = this, {scale, width, height, ratio} = view, r = Math.round(radius(s, view) * 2) / 2
    const x = (house.x[idx] - view.x) * scale, y = (house.y[idx] - view.y) * scale
    if (x < -r || y < -r || x > width + r || y > height + r) return
    if (wipe) { // not as far as the neighbours
      g.beginPath()
      if (house.flags[idx] & ACCESSIBLE) g.rect(x - r, y - r, r * 2, r * 2)
      else g.arc(x, y, r + .75, 0, 7)
      g.globalCompositeOperation = 'destination-out'
      g.fill()
      g.globalCompositeOperation = 'source-over'
    }
    const state = this.state(idx), colour = this.colour(idx, state, theme)
    const wheel = (house.flags[idx] & ACCESSIBLE) !== 0 && state !== 'sold'
    if (this.faint(idx, state)) g.globalAlpha = FAINT
    this.#stamp(g, {state, wheel, mark: state === 'free' && this.#mark(house.category[idx])}, colour, r, x, y, ratio)
    g.globalAlpha = 1
    if (r >= NUMBER && state === 'free' && this.filter.fits(idx)) this.#number(g, idx, r, x, y, colour)
  }

  #mark(category) { return category < HUES ? this.theme.marks?.[category] : BARRED }

  #stamp(g, kind, colour, r, x, y, ratio) {
    const name = `${kind.state}${kind.wheel ? 'w' : ''}${kind.mark || ''}${colour}${r}`
    let image = this.#sprites.get(name)
    if (!image) {
      if (this.#sprites.size > 200) this.#sprites.clear()
      this.#sprites.set(name, image = sprite(kind, colour, this.theme, r, ratio))
    }
    const side = image.width / ratio
    g.drawImage(image, x - side / 2, y - side / 2, side, side)
  }

  #number(g, idx, r, x, y, on) {
    const text = this.numberOf(this.house, idx)
    g.font = `600 ${Math.min(16, r * (text.length > 2 ? .72 : .95))}px Instrument, sans-serif`
    g.textAlign = 'center'
    g.textBaseline = 'middle'
    g.fillStyle = ink(on)
    g.fillText(text, x, y + .5)
  }

  // ring draws a circle around a seat.
  ring(idx, view, grow, alpha) {
    const {above: g, house} = this, s = house.sections[house.section[idx]]
    this.marked = true
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    g.globalAlpha = alpha
    g.strokeStyle = this.theme.focus
    g.lineWidth = 3
    g.beginPath()
    g.arc((house.x[idx] - view.x) * view.scale, (house.y[idx] - view.y) * view.scale, Math.max(5, radius(s, view) + 3) + grow, 0, 7)
    g.stroke()
    g.globalAlpha = 1
  }
}

let probe
// packed is a colour as a pixel has it.
export function packed(colour) {
  probe ??= pen({willReadFrequently: true})
  probe.fillStyle = colour
  probe.fillRect(0, 0, 1, 1)
  return new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0]
}

export const radius = (s, view) => Math.min(26, s.pitch * view.scale * .4)

// ink is black or white, whichever reads better on a colour.
function ink(hex) {
  if (!/^#[0-9a-f]{6}$/i.test(hex)) return 'Canvas'
  const [r, g, b] = [1, 3, 5].map(i => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2)
  return .2126 * r + .7152 * g + .0722 * b > .18 ? '#000' : '#fff'
}
