// What is drawn above the plan: what is selected, and what the hand is at.

import {KEY, partsOf} from 'usher/editor_model'
import {pointsOf} from 'usher/editor_shape'

export const RADIUS = 7.5 // of a seat, units

export function path(g, points, closed) {
  g.beginPath()
  points.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y))
  if (closed) g.closePath()
}

export function write(g, text, x, y, size, colour, rotation = 0) {
  if (size < 5 || x < -300 || y < -100 || x > g.canvas.width + 300) return
  g.save()
  g.translate(x, y)
  g.rotate(rotation * Math.PI / 180)
  g.font = `600 ${size}px Instrument, sans-serif`
  g.textAlign = 'center'
  g.textBaseline = 'middle'
  g.fillStyle = colour
  g.fillText(text, 0, 0)
  g.restore()
}

// drawSelected rings the seats that are selected, and follows the edges of other things.
export function drawSelected(g, theme, {plan, selection, camera, f = p => p, outlineOf}) {
  if (!selection.size) return
  const r = Math.max(2.5, RADIUS * camera.scale * 1.25)
  g.strokeStyle = theme.focus
  g.lineWidth = 2
  g.beginPath()
  for (const section of plan.sections) {
    const all = selection.has(section[KEY])
    for (const part of partsOf(section)) {
      for (const seat of part.seats) {
        if (!all && !selection.has(seat[KEY])) continue
        const [x, y] = camera.screen(f([seat.x, seat.y]))
        if (x < -20 || y < -20 || x > camera.width + 20 || y > camera.height + 20) continue
        if (selection.size > 2000) g.rect(x - r, y - r, 2 * r, 2 * r) // round ones by the thousand take long
        else {
          g.moveTo(x + r, y)
          g.arc(x, y, r, 0, 7)
        }
      }
    }
  }
  g.stroke()
  for (const section of plan.sections) {
    const points = selection.has(section[KEY]) && outlineOf(section)
    if (points) edge(g, points.map(p => camera.screen(f(p))))
  }
  for (const shape of plan.shapes ?? []) if (selection.has(shape[KEY])) edge(g, outlineOfShape(shape).map(p => camera.screen(f(p))), shape.kind !== 'line')
}

function edge(g, points, closed = true) {
  g.lineWidth = 2
  path(g, points, closed)
  g.stroke()
}

// drawMarks draws what the hand is at: handles, guides, a lasso, what is about to be made.
export function drawMarks(g, theme, {handles = [], guides = [], lasso, points = [], path: drawn, label, turner}, camera) {
  g.strokeStyle = g.fillStyle = theme.focus
  g.lineWidth = 1
  for (const [axis, at] of guides) {
    const [x, y] = camera.screen([at, at])
    path(g, axis === 'x' ? [[x, 0], [x, camera.height]] : [[0, y], [camera.width, y]])
    g.stroke()
  }
  if (lasso) {
    g.setLineDash([5, 4])
    path(g, lasso.map(p => camera.screen(p)), true)
    g.stroke()
    g.globalAlpha = .1
    g.fill()
    g.globalAlpha = 1
    g.setLineDash([])
  }
  if (points.length) {
    const r = Math.max(1.5, RADIUS * camera.scale * .8)
    g.globalAlpha = .6
    g.beginPath()
    for (const [x, y] of points.map(p => camera.screen(p))) {
      g.moveTo(x + r, y)
      g.arc(x, y, r, 0, 7)
    }
    g.fill()
    g.globalAlpha = 1
  }
  if (drawn?.length) {
    path(g, drawn.map(p => camera.screen(p)))
    g.lineWidth = 2
    g.stroke()
  }
  for (const p of handles) {
    const [x, y] = camera.screen(p)
    g.fillStyle = theme.panel
    g.beginPath()
    g.rect(x - 5, y - 5, 10, 10)
    g.fill()
    g.stroke()
  }
  if (turner) {
    const [x, y] = camera.screen(turner)
    g.fillStyle = theme.focus
    g.beginPath()
    g.arc(x, y, 7, 0, 7)
    g.fill()
  }
  if (label) {
    const [x, y] = camera.screen(label.at)
    write(g, label.text, x, y - 14, 14, theme.text)
  }
}

function outlineOfShape(shape) {
  if (shape.points) return shape.points
  const [[left, top], [right, bottom]] = pointsOf(shape)
  return [[left, top], [right, top], [right, bottom], [left, bottom]]
}
