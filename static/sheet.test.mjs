// When the seats are drawn: whatever happens while the map moves, what is on it at rest is true.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'
import {dice} from './testdata/random.mjs'

const source = readFileSync(new URL('js/sheet.js', import.meta.url), 'utf8')
const SEATS = 40, PARTS = 8, SLOWNESS = 2 // ms that each part takes

let time = 0
Object.defineProperty(globalThis, 'performance', {value: {now: () => time}})

// A canvas knows of each seat where it was drawn, and in which colour.
function canvas(width = 300, height = 150) {
  const made = {style: {}, before(sheet) { made.sheet = sheet }, getContext: () => g}
  const g = {canvas: made, seats: [], setTransform() {}, clearRect() { g.seats = [] }, drawImage(from) { g.seats = [...from.getContext().seats]; copies++ }}
  for (const [side, is] of Object.entries({width, height})) {
    let now = is
    Object.defineProperty(made, side, {get: () => now, set(n) { now = n; g.seats = [] }})
  }
  return made
}
globalThis.document = {createElement: () => canvas()}

let sheets = 0, copies = 0, parts = 0
// open is a sheet for some seats, with a fault where the test plants one.
async function open(from = '', to = '') {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {Sheet} = await import(`data:text/javascript,${encodeURIComponent(source.replace(from, to))}// ${sheets++}`)
  const colours = Array(SEATS).fill(0), look = ({x, y, scale, width}, idx) => `${idx} at ${x} ${y} ${scale} of ${width} in ${colours[idx]}`
  class Seats extends Sheet {
    dots = false;
    *all(g, view) {
      g.seats = []
      for (let idx = 0; idx < SEATS; idx++) {
        if (idx % (SEATS / PARTS) === 0) {
          yield
          time += SLOWNESS
          parts++
        }
        g.seats[idx] = look(view, idx)
      }
    }
    some(g, view, idxs) {
      if (this.dots) return false
      for (const idx of idxs) g.seats[idx] = look(view, idx)
      return true
    }
  }
  const over = canvas(400, 300), sheet = new Seats(over), view = {x: 0, y: 0, scale: 1, width: 400, height: 300, ratio: 1, moving: false}
  const wrong = () => {
    const [, dx, dy, by] = over.sheet.style.transform.match(/translate\((.*)px, (.*)px\) scale\((.*)\)/).map(Number), {seats} = over.sheet.getContext()
    return dx || dy || by !== 1 ? 'moved along' : colours.findIndex((_, idx) => seats[idx] !== look(view, idx)) >= 0
  }
  return {sheet, view, colours, over, wrong}
}

// lives lets a sheet through whatever may happen, and counts how often it is wrong at rest.
async function lives(from, to) {
  const {sheet, view, colours, over, wrong} = await open(from, to)
  const some = dice(1).below
  let faults = 0
  sheet.draw(view)
  for (let i = 0; i < 10_000; i++) {
    time += some(150)
    const idx = some(SEATS), does = some(12)
    if (does < 4) Object.assign(view, {x: some(2), y: some(2), moving: true})
    else if (does === 4) Object.assign(view, {scale: 1 + some(2), moving: true})
    else if (does < 9) sheet.touch([idx], colours[idx]++)
    else if (does === 9) sheet.touch(undefined, colours.forEach((c, at) => { colours[at] = c + 1 }))
    else if (does === 10) over.width = view.width = 400 + some(2)
    else sheet.dots = some(2) === 0
    sheet.draw(view)
    if (some(8)) continue
    view.moving = some(2) === 0 // let go, or held where it is
    let frames = 0
    while (sheet.draw(view) && frames++ < 99) {
      if (!view.moving && wrong() === 'moved along') faults++
      time += 16
    }
    if (frames > 99) faults++ // it never rests
    if (wrong()) faults++
  }
  return faults
}

test('whatever happens while the map moves, every seat is where and as it should be when it rests', async () => {
  assert.equal(await lives(), 0)
  const plants = [
    [', this.#next?.stale]', ']'], // a seat that changes while the next picture is drawn
    ['[this.#now.stale, this.#next] = [true]', 'this.#now.stale = true'], // all of them
    ['now.at = this.#next = undefined', 'now.at = undefined'], // another size
    ['!moving && !alike(this.#next.at, view)', 'false'], // the next picture is of where the map was
    ['|| !alike(now.at, view)\n', '\n'],
    ['now.stale.size !== 0 ||', ''],
    ['[now.stale, this.#next] = [new Set()]', 'now.stale = new Set()'], // nothing to do, and the next picture not drawn to its end
  ]
  for (const [from, to] of plants) assert.notEqual(await lives(from, to), 0, `${from} may be ${to}`)
})

// pan drags a house that takes long for a second, frame by frame: how often its picture was changed, and the most parts drawn in a frame.
async function pan(from, to) {
  const {sheet, view} = await open(from, to)
  sheet.draw(view)
  let most = 0
  copies = 0
  for (let frame = 0; frame < 60; frame++) {
    parts = 0
    const began = time
    Object.assign(view, {x: view.x + 1, moving: true})
    sheet.draw(view)
    most = Math.max(most, parts)
    time = Math.max(time, began + 16)
  }
  return [copies, most]
}

test('a house that takes long is moved along, and drawn in parts', async () => {
  const [pictures, most] = await pan()
  assert.ok(pictures > 0 && pictures < 4, `${pictures} pictures in a second`)
  assert.equal(most, 2)
  assert.ok((await pan('moving ? PART : Infinity', 'Infinity'))[1] > 2)
  assert.ok((await pan('SLOW = 3', 'SLOW = 300'))[1] > 2)
  assert.ok((await pan('PACE = 500', 'PACE = 0'))[0] > 4)
})

test('a picture is moved by whole pixels of the screen', async () => {
  const {along} = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  assert.equal(along({x: 10, y: 20, scale: 2}, {x: 9.8, y: 20.6, scale: 2, ratio: 1}), 'translate(0px, -1px) scale(1)')
  assert.equal(along({x: 10, y: 20, scale: 2}, {x: 9.8, y: 20.6, scale: 4, ratio: 2}), 'translate(1px, -2.5px) scale(2)')
})
