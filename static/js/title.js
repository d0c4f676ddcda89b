// The names of the sections in the drawing. Names stand beside the seats where there is room. Where there is none,
// seats make room as long as they are dots, and from then on the name is gone.

import {inside} from 'usher/geometry'
import {$, $$} from 'usher/page'
import {DOT, radius} from 'usher/paint'

const LEAST = 9, MOST = 56 // px: names are as large as that, or gone
const FEW = 6000 // seats up to which room beside them is looked for
const STEPS = 16

export class Titles {
  constructor(drawing, house) {
    this.house = house
    const taken = $$('.shape:not(.open), .word', drawing).map(shape => grown(shape.getBBox(), 4))
    this.all = $$('a', drawing).flatMap((link, section) => {
      const text = $('text', link)
      return text ? [{text, section, shown: true, grow: 1, ...place(text, link)}] : []
    })
    const set = (t, spot) => {
      Object.assign(t, spot, {beside: true})
      taken.push(box(t, t.x, t.y))
    }
    for (const t of this.all) if (house.sections[t.section].area || house.n <= FEW && this.#empty(t, t, taken)) set(t)
    for (const t of this.all) {
      const spot = !t.beside && house.n <= FEW && this.#beside(t, taken)
      if (!spot) continue
      set(t, spot)
      t.text.setAttribute('x', (t.x - t.from.x) / t.from.step)
      t.text.setAttribute('y', (t.y - t.from.y) / t.from.step)
    }
  }

  // #beside looks for the spot nearest to the middle of a section where its name covers nothing.
  #beside(t, taken) {
    const s = this.house.sections[t.section], left = s.left - t.w / 2, top = s.top - t.size, spots = []
    for (let i = 0; i <= STEPS; i++) {
      for (let j = 0; j <= STEPS; j++) spots.push({x: left + i * (s.right - s.left + t.w) / STEPS, y: top + j * (s.bottom - s.top + 2 * t.size) / STEPS})
    }
    for (const spot of spots) {
      const within = corners(box(t, spot.x, spot.y)).filter(p => inside(s.outline, ...p)).length
      spot.cost = Math.hypot(spot.x - t.x, spot.y - t.y) + (within % 5 ? t.size * 2 : 0) // across an outline is not as good
    }
    return spots.sort((a, b) => a.cost - b.cost).find(spot => this.#empty(t, spot, taken) && this.#belongs(t.section, spot))
  }

  // #belongs tells whether the nearest seat is of this section: readers of a name look there.
  #belongs(section, {x, y}) {
    const {house} = this
    let nearest = 0, least = Infinity
    for (let idx = 0; idx < house.n; idx++) {
      const d = (house.x[idx] - x) ** 2 + (house.y[idx] - y) ** 2
      if (d < least) [nearest, least] = [idx, d]
    }
    return house.section[nearest] === section
  }
  #empty(t, {x, y}, taken) {
    const {house} = this, b = box(t, x, y)
    if (b.left < 0 || b.top < 0 || b.right > house.w || b.bottom > house.h) return false
    if (taken.some(o => meet(o, b))) return false
    return house.sections.every((s, i) => {
      const room = s.pitch * .5
      if (i !== t.section && corners(b).some(p => inside(s.outline, ...p))) return false
      if (!s.pitch || b.right < s.left - room || b.left > s.right + room || b.bottom < s.top - room || b.top > s.bottom + room) return true
      for (let idx = s.first; idx < s.first + s.count; idx++) {
        if (house.x[idx] > b.left - room && house.x[idx] < b.right + room && house.y[idx] > b.top - room && house.y[idx] < b.bottom + room) return false
      }
      return true
    })
  }

  // show follows the view: it lets names appear and go, and tells the painter which dots make room. Names that would be
  // too small to read are drawn larger where they do not meet.
  show(view) {
    const large = []
    for (const t of this.all) {
      const s = this.house.sections[t.section], px = t.size * view.scale
      const grow = t.beside ? 1 : Math.max(1, LEAST / px), b = box({w: t.w * grow, size: t.size * grow}, t.x, t.y)
      const apart = box({w: t.w * grow * 1.8, size: t.size * grow * 2}, t.x, t.y)
      const room = t.beside ? px >= LEAST : radius(s, view) < DOT && (grow === 1 || grow < 2 && !large.some(o => meet(o, apart)))
      const shown = px <= MOST && room
      if (shown && !t.beside) large.push(b)
      s.title = shown && !t.beside ? b : undefined
      if (shown !== t.shown) t.text.classList.toggle('gone', !(t.shown = shown))
      if (grow !== t.grow) t.text.setAttribute('font-size', t.size * (t.grow = grow) / t.from.step)
    }
  }
}

// place is where and how large a name is in the house. A section is drawn from the place of its name, and in steps.
function place(text, link) {
  const matrix = of => of.transform.baseVal.consolidate().matrix, {a} = matrix(link.parentNode), {e, f} = matrix(link), x = e * a, y = f * a
  return {from: {x, y, step: a}, x, y, size: text.getAttribute('font-size') * a, w: text.getBBox().width * a}
}

const box = (t, x, y) => ({left: x - t.w / 2, right: x + t.w / 2, top: y - t.size * .5, bottom: y + t.size * .5})
const meet = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top
const corners = b => [[b.left, b.top], [b.right, b.top], [(b.left + b.right) / 2, (b.top + b.bottom) / 2], [b.left, b.bottom], [b.right, b.bottom]]
const grown = (b, by) => ({left: b.x - by, right: b.x + b.width + by, top: b.y - by, bottom: b.y + b.height + by})
