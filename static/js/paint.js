// Drawing the seats: colour says what a seat costs, shape and filling say whether it can be had.
// Free is a full disc, held a hollow ring, sold a small dot, not for sale a cross, mine a disc with a tick, mine until my
// time ran out a broken ring with a core; wheelchair places are squares. What is not looked for is faint.

export const DOT = 1.7 // radius in CSS pixels from which seats are discs
const NUMBER = 9 // … and from which they have numbers
const HUES = 5
const ACCESSIBLE = 1
const STATES = ['free', 'held', 'sold', 'blocked'] // as they travel
const SLOW = 6 // ms for the seats of a frame; the rest of 16 is the browser's
const FAINT = .22 // of what does not fit the filter
const EVERY = {on: () => false, fits: () => true} // looks for nothing
const FEW = 4000 // seats that are drawn one by one; beyond, all are drawn anew

// colours reads the theme from the style sheet; with forced colours those of the system.
export function colours() {
  const css = getComputedStyle(document.documentElement), get = name => css.getPropertyValue(name).trim()
  if (matchMedia('(forced-colors: active)').matches) {
    return {prices: Array(HUES).fill('CanvasText'), mine: 'Highlight', lapsed: 'Highlight', onMine: 'HighlightText', held: 'GrayText', blocked: 'GrayText', sold: 'GrayText', focus: 'Highlight', text: 'Canvas'}
  }
  const prices = Array.from({length: HUES}, (_, i) => get(`--p${i}`))
  return {prices, mine: get('--mine'), lapsed: get('--alarm'), onMine: get('--on-mine'), held: get('--held'), blocked: get('--edge'), sold: get('--sold'), focus: get('--focus'), text: get('--bg')}
}

function sprite(kind, colour, theme, r, ratio) {
  const {state} = kind, hollow = state === 'held' || state === 'lapsed'
  const size = Math.ceil((r + 2) * 2 * ratio), c = document.createElement('canvas')
  c.width = c.height = size
  const g = c.getContext('2d')
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
  if (state === 'mine') tick(g, theme.onMine, r)
  return c
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

// Painter draws a house onto a canvas, given where it is looked at. The seats stand on a sheet of their own, which is
// kept: a frame that only moves a ring copies it, and where seats are discs, a change draws anew just those it is about.
export class Painter {
  #sprites = new Map()
  #pixels
  #sheet = document.createElement('canvas')
  #stale = true // all of the sheet, or the seats of it that changed
  #at // where the sheet looks at
  #cost = 0 // ms to draw all of it
  constructor(canvas, house, hold, live, numberOf, filter = EVERY) {
    Object.assign(this, {canvas, house, hold, live, numberOf, filter, front: canvas.getContext('2d'), g: this.#sheet.getContext('2d')})
    this.recolour()
  }
  // touch says which seats look different now; without any, all of them may.
  touch(idxs) {
    if (!idxs || this.#stale === true || this.#stale.size + idxs.length > FEW) this.#stale = true
    else for (const idx of idxs) this.#stale.add(idx)
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

  // usual is the pixels of seats that nobody here has, for each price and state: to look into each of 50,000 takes long.
  usual() { return Uint32Array.from({length: HUES * 4}, (_, i) => i % 4 ? this.packed[STATES[i % 4]] : this.packed.prices[i >> 2]) }

  // #own are the seats that may look otherwise here than to everybody.
  #own() { return new Set([...this.hold.seats.keys(), ...this.hold.asked.keys()]) }

  // faint tells whether a seat is none of those that are looked for; what is mine is always seen.
  faint(idx, state) { return state !== 'mine' && state !== 'lapsed' && !this.filter.fits(idx) }

  // draw shows everything in view: view = {scale, x, y}, a seat stands at (seat - x) * scale. While the view moves, a house
  // that takes long to draw is shown by the sheet as it is, moved along; true says that it must be drawn when all is still.
  draw(view, width, height, ratio, moving) {
    const {canvas, front} = this, sheet = this.#sheet
    if (sheet.width !== canvas.width || sheet.height !== canvas.height) [sheet.width, sheet.height, this.#at] = [canvas.width, canvas.height, undefined]
    const slide = moving && this.#at && this.#cost > SLOW
    if (!this.#at) this.touch() // nothing is on the sheet
    if (!slide && (this.#stale === true || this.#stale.size)) this.#paint(view, width, height, ratio)
    front.setTransform(1, 0, 0, 1, 0, 0)
    front.clearRect(0, 0, canvas.width, canvas.height)
    const {x, y, scale} = this.#at, k = view.scale / scale
    front.drawImage(sheet, (x - view.x) * view.scale * ratio, (y - view.y) * view.scale * ratio, canvas.width * k, canvas.height * k)
    front.setTransform(ratio, 0, 0, ratio, 0, 0)
    return slide
  }

  #paint(view, width, height, ratio) {
    const began = performance.now(), all = this.#stale === true
    this.#fill(view, width, height, ratio)
    this.#stale = new Set()
    this.#at = {x: view.x, y: view.y, scale: view.scale}
    if (all) this.#cost = performance.now() - began
  }

  #fill(view, width, height, ratio) {
    const {g, house} = this
    const seen = house.sections.filter(s => s.pitch && (s.right - view.x) * view.scale > -9 && (s.left - view.x) * view.scale < width + 9 &&
      (s.bottom - view.y) * view.scale > -9 && (s.top - view.y) * view.scale < height + 9)
    const small = seen.filter(s => radius(s, view) < DOT)
    g.setTransform(ratio, 0, 0, ratio, 0, 0)
    if (this.#stale !== true && !small.length) return this.#patch(seen, view, width, height, ratio)
    g.setTransform(1, 0, 0, 1, 0, 0)
    g.clearRect(0, 0, this.canvas.width, this.canvas.height)
    if (small.length) this.#dots(small, view, ratio)
    g.setTransform(ratio, 0, 0, ratio, 0, 0)
    for (const s of seen) if (!small.includes(s)) this.#discs(s, view, width, height, ratio)
    if (small.length) this.#mine(small, view, ratio)
  }

  #dots(sections, view, ratio) {
    const {canvas: {width, height}, house, packed} = this
    if (this.#pixels?.width !== width || this.#pixels.height !== height) this.#pixels = new ImageData(width, height)
    const to = new Uint32Array(this.#pixels.data.buffer)
    to.fill(0)
    const k = view.scale * ratio, usual = this.usual(), {states} = this.live, own = this.#own(), sought = this.filter.on()
    for (const s of sections) {
      const size = Math.max(1, Math.round(s.pitch * k * .62)), {title} = s
      for (let idx = s.first; idx < s.first + s.count; idx++) {
        const sx = house.x[idx], sy = house.y[idx]
        if (title && sx > title.left && sx < title.right && sy > title.top && sy < title.bottom) continue
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
    this.g.putImageData(this.#pixels, 0, 0)
  }

  // #mine makes the attendee's own seats easy to find where seats are only dots, and those that were.
  #mine(sections, view, ratio) {
    for (const idx of this.#own()) {
      const state = this.state(idx)
      if (state !== 'mine' && state !== 'lapsed' || !sections.includes(this.house.sections[this.house.section[idx]])) continue
      const x = (this.house.x[idx] - view.x) * view.scale, y = (this.house.y[idx] - view.y) * view.scale
      this.#stamp({state}, this.theme[state], 6, x, y, ratio)
    }
  }

  #discs(s, view, width, height, ratio) {
    for (let idx = s.first; idx < s.first + s.count; idx++) this.#disc(s, idx, view, width, height, ratio)
  }

  #disc(s, idx, view, width, height, ratio, wipe) {
    const {house, theme, g} = this, r = Math.round(radius(s, view) * 2) / 2
    const x = (house.x[idx] - view.x) * view.scale, y = (house.y[idx] - view.y) * view.scale
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
    this.#stamp({state, wheel}, colour, r, x, y, ratio)
    g.globalAlpha = 1
    if (r >= NUMBER && state === 'free' && this.filter.fits(idx)) this.#number(idx, r, x, y, colour)
  }

  // #patch draws the seats that changed, where all in view are discs.
  #patch(seen, view, width, height, ratio) {
    for (const idx of this.#stale) {
      const s = this.house.sections[this.house.section[idx]]
      this.g.fillStyle = '#000'
      if (seen.includes(s)) this.#disc(s, idx, view, width, height, ratio, true)
    }
  }

  #stamp(kind, colour, r, x, y, ratio) {
    const name = `${kind.state}${kind.wheel ? 'w' : ''}${colour}${r}`
    let image = this.#sprites.get(name)
    if (!image) {
      if (this.#sprites.size > 200) this.#sprites.clear()
      this.#sprites.set(name, image = sprite(kind, colour, this.theme, r, ratio))
    }
    const side = image.width / ratio
    this.g.drawImage(image, x - side / 2, y - side / 2, side, side)
  }

  #number(idx, r, x, y, on) {
    const {g} = this, text = this.numberOf(this.house, idx)
    g.font = `600 ${Math.min(16, r * (text.length > 2 ? .72 : .95))}px Instrument, sans-serif`
    g.textAlign = 'center'
    g.textBaseline = 'middle'
    g.fillStyle = ink(on)
    g.fillText(text, x, y + .5)
  }

  // ring draws a circle around a seat.
  ring(idx, view, grow, alpha) {
    const {front: g, house} = this, s = house.sections[house.section[idx]]
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
  probe ??= document.createElement('canvas').getContext('2d', {willReadFrequently: true})
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
