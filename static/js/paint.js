// Drawing the seats: colour says what a seat costs, shape and filling say whether it can be had.
// Free is a full disc, held a hollow ring, sold a small dot, mine a disc with a tick; wheelchair places are squares.

const DOT = 1.7, NUMBER = 9 // radius in CSS pixels from which seats are discs, and have numbers
const HUES = 5
const ACCESSIBLE = 1

// colours reads the theme from the style sheet; with forced colours those of the system.
export function colours() {
  const css = getComputedStyle(document.documentElement), get = name => css.getPropertyValue(name).trim()
  if (matchMedia('(forced-colors: active)').matches) {
    return {prices: Array(HUES).fill('CanvasText'), mine: 'Highlight', onMine: 'HighlightText', held: 'GrayText', sold: 'GrayText', focus: 'Highlight', text: 'Canvas'}
  }
  const prices = Array.from({length: HUES}, (_, i) => get(`--p${i}`))
  return {prices, mine: get('--mine'), onMine: get('--on-mine'), held: get('--held'), sold: get('--sold'), focus: get('--focus'), text: get('--bg')}
}

function sprite(kind, colour, theme, r, ratio) {
  const size = Math.ceil((r + 2) * 2 * ratio), c = document.createElement('canvas')
  c.width = c.height = size
  const g = c.getContext('2d')
  g.translate(size / 2, size / 2)
  g.scale(ratio, ratio)
  g.fillStyle = g.strokeStyle = colour
  g.beginPath()
  if (kind.wheel) g.roundRect(-r * .92, -r * .92, r * 1.84, r * 1.84, r * .45)
  else g.arc(0, 0, kind.state === 'sold' ? r * .42 : kind.state === 'held' ? r * .8 : r, 0, 7)
  if (kind.state === 'held') {
    g.lineWidth = Math.max(1, r * .2)
    g.stroke()
  } else g.fill()
  if (kind.state === 'mine') tick(g, theme.onMine, r)
  return c
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

// Painter draws a house onto a canvas, given where it is looked at.
export class Painter {
  #sprites = new Map()
  #pixels
  constructor(canvas, house, hold, live, numberOf) {
    Object.assign(this, {canvas, house, hold, live, numberOf, g: canvas.getContext('2d')})
    this.recolour()
  }
  recolour() {
    this.theme = colours()
    this.#sprites.clear()
    const probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
    const read = colour => {
      probe.fillStyle = colour
      probe.fillRect(0, 0, 1, 1)
      return new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0]
    }
    this.packed = {prices: this.theme.prices.map(read), held: read(this.theme.held), sold: read(this.theme.sold), mine: read(this.theme.mine)}
  }

  state(idx) {
    if (this.hold.has(idx)) return 'mine'
    const s = this.live.states ? this.live.states[idx] : 0
    if (s === 1 && this.hold.asked.get(idx) === false) return 'free'
    return s === 0 ? 'free' : s === 1 ? 'held' : 'sold'
  }

  // draw paints everything in view: view = {scale, x, y}, a seat stands at (seat - x) * scale.
  draw(view, width, height, ratio) {
    const {g, house} = this
    g.setTransform(1, 0, 0, 1, 0, 0)
    g.clearRect(0, 0, this.canvas.width, this.canvas.height)
    const seen = house.sections.filter(s => s.pitch && (s.right - view.x) * view.scale > -9 && (s.left - view.x) * view.scale < width + 9 &&
      (s.bottom - view.y) * view.scale > -9 && (s.top - view.y) * view.scale < height + 9)
    const small = seen.filter(s => radius(s, view) < DOT)
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
    const k = view.scale * ratio
    for (const s of sections) {
      const size = Math.max(1, Math.round(s.pitch * k * .62))
      for (let idx = s.first; idx < s.first + s.count; idx++) {
        const state = this.state(idx)
        const colour = state === 'free' ? packed.prices[house.category[idx] % HUES] : packed[state]
        const side = state === 'free' || state === 'mine' ? size : Math.max(1, size >> 1)
        const x = Math.round((house.x[idx] - view.x) * k - side / 2), y = Math.round((house.y[idx] - view.y) * k - side / 2)
        if (x < 0 || y < 0 || x + side > width || y + side > height) continue
        for (let row = y; row < y + side; row++) to.fill(colour, row * width + x, row * width + x + side)
      }
    }
    this.g.putImageData(this.#pixels, 0, 0)
  }

  // #mine makes the attendee's own seats easy to find where seats are only dots.
  #mine(sections, view, ratio) {
    for (const idx of new Set([...this.hold.seats.keys(), ...this.hold.asked.keys()])) {
      if (!this.hold.has(idx) || !sections.includes(this.house.sections[this.house.section[idx]])) continue
      const x = (this.house.x[idx] - view.x) * view.scale, y = (this.house.y[idx] - view.y) * view.scale
      this.#stamp({state: 'mine'}, this.theme.mine, 6, x, y, ratio)
    }
  }

  #discs(s, view, width, height, ratio) {
    const {house, theme} = this, r = Math.round(radius(s, view) * 2) / 2, reading = r >= NUMBER
    for (let idx = s.first; idx < s.first + s.count; idx++) {
      const x = (house.x[idx] - view.x) * view.scale, y = (house.y[idx] - view.y) * view.scale
      if (x < -r || y < -r || x > width + r || y > height + r) continue
      const state = this.state(idx), hue = house.category[idx] % HUES
      const wheel = (house.flags[idx] & ACCESSIBLE) !== 0 && state !== 'sold'
      this.#stamp({state, wheel}, state === 'free' ? theme.prices[hue] : theme[state], r, x, y, ratio)
      if (reading && state === 'free') this.#number(idx, r, x, y, theme.prices[hue])
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
    const {g, house} = this, s = house.sections[house.section[idx]]
    g.globalAlpha = alpha
    g.strokeStyle = this.theme.focus
    g.lineWidth = 3
    g.beginPath()
    g.arc((house.x[idx] - view.x) * view.scale, (house.y[idx] - view.y) * view.scale, Math.max(5, radius(s, view) + 3) + grow, 0, 7)
    g.stroke()
    g.globalAlpha = 1
  }
}

export const radius = (s, view) => Math.min(26, s.pitch * view.scale * .4)

// ink is black or white, whichever reads better on a colour.
function ink(hex) {
  if (!/^#[0-9a-f]{6}$/i.test(hex)) return 'Canvas'
  const [r, g, b] = [1, 3, 5].map(i => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2)
  return .2126 * r + .7152 * g + .0722 * b > .18 ? '#000' : '#fff'
}
