// The picture of the plan on a canvas: shapes, outlines, tables and seats; above them what editor_over draws.

import {KEY, categoryOf, labelOf, partsOf} from 'usher/editor_model'
import {RADIUS, drawMarks, drawSelected, path, write} from 'usher/editor_over'
import {drawUnder} from 'usher/editor_under'
import {boxOf, corners, hull, middle} from 'usher/editor_shape'

const NUMBERS = 1.1, LABELS = .35 // px per unit from which numbers of seats and names of rows are written

export class Painter {
  #g; #canvas; #objects = JSON.parse(document.body.dataset.objects); #base; #hulls = new WeakMap()

  constructor(canvas) {
    this.#canvas = canvas
    this.#g = canvas.getContext('2d')
    this.recolour()
  }

  // recolour reads the colours of the page again.
  recolour() {
    const style = getComputedStyle(document.documentElement), of = name => style.getPropertyValue(`--${name}`).trim()
    this.theme = {bg: of('bg'), panel: of('panel'), raised: of('raised'), line: of('line'), text: of('text'), muted: of('muted'), edge: of('edge'), focus: of('focus'), alarm: of('alarm'), prices: [0, 1, 2, 3, 4].map(i => of(`p${i}`))}
    if (matchMedia('(forced-colors: active)').matches) Object.assign(this.theme, {bg: 'Canvas', panel: 'Canvas', raised: 'Canvas', line: 'GrayText', text: 'CanvasText', muted: 'GrayText', edge: 'CanvasText', focus: 'Highlight', prices: Array(5).fill('CanvasText')})
  }

  colours(plan) {
    return new Map(plan.categories.map((c, i) => [c.key, c.color || this.theme.prices[i % 5]]))
  }

  // draw paints everything. Of what is being moved (ghost: {selection, f}) only the place it goes to is drawn.
  draw({plan, selection, camera, ghost, marks, under}) {
    const g = this.#g
    g.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0)
    if (ghost && this.#base?.plan === plan) {
      g.clearRect(0, 0, camera.width, camera.height)
      g.drawImage(this.#base.canvas, 0, 0, camera.width, camera.height)
    } else {
      this.#base = undefined
      g.fillStyle = this.theme.bg
      g.fillRect(0, 0, camera.width, camera.height)
      drawUnder(g, plan, camera, under)
      this.#things(plan, camera, ghost ? key => !ghost.selection.has(key) : () => true)
      if (ghost) this.#keep(plan)
    }
    if (ghost) this.#things(plan, camera, key => ghost.selection.has(key), ghost.f)
    drawSelected(g, this.theme, {plan, selection, camera, f: ghost?.f, outlineOf: section => section.outline ?? this.#hull(section)})
    if (marks) drawMarks(g, this.theme, marks, camera)
  }

  // settle forgets what a move began with.
  settle() { this.#base = undefined }

  #keep(plan) {
    const canvas = document.createElement('canvas')
    canvas.width = this.#canvas.width
    canvas.height = this.#canvas.height
    canvas.getContext('2d').drawImage(this.#canvas, 0, 0)
    this.#base = {plan, canvas}
  }

  #things(plan, camera, wanted, f = p => p) {
    const colours = this.colours(plan)
    const said = new Set((plan.shapes ?? []).map(s => s.text)) // names that stand in the drawing already
    for (const section of plan.sections) this.#outline(section, camera, colours, wanted, f, !said.has(section.name))
    for (const shape of plan.shapes ?? []) if (wanted(shape[KEY])) this.#shape(shape, camera, f)
    const batches = new Map()
    for (const section of plan.sections) {
      const all = wanted(section[KEY])
      for (const part of partsOf(section)) {
        if (part.center && (wanted(part[KEY]) && part.seats.some(s => wanted(s[KEY])))) this.#top(part, camera, f)
        this.#row(part, section, camera, batches, wanted, f, all)
      }
    }
    this.#seats(batches, camera, colours)
  }

  #row(part, section, camera, batches, wanted, f) {
    let first
    for (const seat of part.seats) {
      if (!wanted(seat[KEY])) continue
      const [x, y] = camera.screen(f([seat.x, seat.y]))
      first ??= [x, y]
      if (x < -20 || y < -20 || x > camera.width + 20 || y > camera.height + 20) continue
      const category = categoryOf(seat, section)
      if (!batches.has(category)) batches.set(category, [])
      batches.get(category).push({x, y, seat})
    }
    if (first && camera.scale >= LABELS && part.table === undefined) write(this.#g, labelOf(part), first[0] - 16 * camera.scale, first[1], Math.min(14, 11 * camera.scale + 4), this.theme.muted)
  }

  #seats(batches, camera, colours) {
    const g = this.#g, r = Math.max(1, RADIUS * camera.scale), small = r < 2
    for (const [category, list] of batches) {
      g.fillStyle = colours.get(category) ?? this.theme.alarm
      g.beginPath()
      for (const {x, y, seat} of list) {
        if (small) g.rect(x - r, y - r, 2 * r, 2 * r)
        else if (seat.flags?.includes('accessible')) g.roundRect(x - r, y - r, 2 * r, 2 * r, r * .35)
        else {
          g.moveTo(x + r, y)
          g.arc(x, y, r, 0, 7)
        }
      }
      g.fill()
    }
    if (small) return
    for (const [category, list] of batches) {
      const colour = ink(colours.get(category) ?? '')
      for (const {x, y, seat} of list) this.#signs(seat, x, y, r, camera, colour)
    }
  }

  // #signs are what a seat says: its number, and marks for what is special about it.
  #signs(seat, x, y, r, camera, colour) {
    const g = this.#g, has = flag => seat.flags?.includes(flag)
    if (camera.scale >= NUMBERS) write(this.#g, seat.number, x, y + .5, Math.min(15, r * (seat.number.length > 2 ? .72 : 1)), colour)
    if (has('companion') || has('restricted-view')) {
      g.strokeStyle = this.theme.text
      g.lineWidth = Math.max(1, r * .18)
      g.setLineDash(has('restricted-view') ? [r * .4, r * .4] : [])
      g.beginPath()
      g.arc(x, y, r * 1.15, 0, 7)
      g.stroke()
      g.setLineDash([])
    }
  }

  #outline(section, camera, colours, wanted, f, titled) {
    const mine = wanted(section[KEY])
    const points = section.outline ?? (section.area ? undefined : this.#hull(section))
    if (!points || !mine) return
    const g = this.#g, colour = colours.get(section.category) ?? this.theme.edge
    path(this.#g, points.map(p => camera.screen(f(p))), true)
    g.fillStyle = colour
    g.globalAlpha = section.area ? .16 : .05
    g.fill()
    g.globalAlpha = .7
    g.strokeStyle = colour
    g.lineWidth = 1
    g.setLineDash(section.outline ? [] : [4, 4])
    g.stroke()
    g.setLineDash([])
    g.globalAlpha = 1
    const [x, y] = camera.screen(f(middle(boxOf(points)))), size = Math.min(18, 13 * Math.sqrt(camera.scale) + 3)
    if (section.area) write(this.#g, `${section.name} · ${section.area.capacity}`, x, y, size, this.theme.text)
    else if (titled && camera.scale < NUMBERS) {
      const [, top] = camera.screen(f([0, boxOf(points).top]))
      write(this.#g, section.name, x, top - size * .7, size, this.theme.text)
    }
  }

  #hull(section) {
    let points = this.#hulls.get(section)
    if (points === undefined) {
      const seats = partsOf(section).flatMap(p => p.seats.map(s => [s.x, s.y]))
      this.#hulls.set(section, points = seats.length ? hull(seats) : null)
    }
    return points
  }

  #top(part, camera, f) {
    const g = this.#g
    if (part.size) path(this.#g, corners(part).map(p => camera.screen(f(p))), true)
    else {
      const [x, y] = camera.screen(f(part.center))
      g.beginPath()
      g.arc(x, y, (part.radius ?? 0) * camera.scale, 0, 7)
    }
    this.#fill()
    const [x, y] = camera.screen(f(part.center))
    if (camera.scale >= LABELS) write(this.#g, part.table, x, y, Math.min(14, 9 * camera.scale + 3), this.theme.muted)
  }

  #fill() {
    const g = this.#g
    g.fillStyle = this.theme.raised
    g.fill()
    g.strokeStyle = this.theme.edge
    g.lineWidth = 1
    g.stroke()
  }

  #shape(shape, camera, f) {
    const g = this.#g
    if (shape.kind === 'text') {
      const [x, y] = camera.screen(f(shape.center ?? [0, 0]))
      return write(this.#g, shape.text, x, y, shape.size * camera.scale, this.theme.muted, (shape.rotation ?? 0) + (f.degrees ?? 0))
    }
    if (shape.kind === 'icon') {
      const size = shape.size * camera.scale, [x, y] = camera.screen(f(shape.center)).map(n => n - size / 2)
      g.beginPath()
      g.roundRect(x, y, size, size, size / 5)
      this.#fill()
      g.save()
      g.translate(x, y)
      g.scale(size / 16, size / 16)
      g.lineWidth = 1.25
      g.strokeStyle = this.theme.muted
      g.lineCap = g.lineJoin = 'round'
      g.stroke(new Path2D(this.#objects[shape.role]))
      g.restore()
      return
    }
    if (shape.kind === 'ellipse') {
      const [x, y] = camera.screen(f(shape.center ?? [0, 0]))
      g.beginPath()
      g.ellipse(x, y, shape.rx * camera.scale, shape.ry * camera.scale, ((shape.rotation ?? 0) + (f.degrees ?? 0)) * Math.PI / 180, 0, 7)
      return this.#fill()
    }
    path(this.#g, shape.points.map(p => camera.screen(f(p))), shape.kind === 'polygon')
    if (shape.kind === 'polygon') return this.#fill()
    g.strokeStyle = this.theme.muted
    g.lineWidth = 2
    g.stroke()
  }

}

// ink is black or white, whichever reads better on a colour.
function ink(hex) {
  if (!/^#[0-9a-f]{6}$/i.test(hex)) return 'Canvas'
  const [r, g, b] = [1, 3, 5].map(i => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2)
  return .2126 * r + .7152 * g + .0722 * b > .18 ? '#000' : '#fff'
}
