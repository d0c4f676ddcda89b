// How hands, wheels and buttons move the map.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const module = source => 'data:text/javascript,' + encodeURIComponent(source)
const page = module('export const $ = () => globalThis.group, $$ = () => [], calm = {matches: true}')
globalThis.document = {querySelector: () => globalThis.group}
const read = name => readFileSync(new URL(`js/${name}.js`, import.meta.url), 'utf8')
const source = read('view').replaceAll("'usher/page'", JSON.stringify(page))
const pad = read('buttons').replace("'usher/text'", JSON.stringify(module('export const T = id => id')))

class Part extends EventTarget {
  clientWidth = 400
  clientHeight = 300
  menu = {addEventListener() {}}
  classList = {add() {}, remove() {}, toggle() {}}
  hidden = true
  setPointerCapture() {}
  closest() { return this.menu }
  getBoundingClientRect() { return {left: 0, top: 0} }
}
let resized // tells the view opened last that its frame may have another size
Object.assign(globalThis, {
  devicePixelRatio: 1,
  matchMedia: () => ({matches: true, addEventListener() {}}), ResizeObserver: class { constructor(told) { resized = told } observe() {} }, requestAnimationFrame: () => 0, cancelAnimationFrame() {},
})

let views = 0
// open is a view of a house of 4,000 by 3,000, with a fault where the test plants one.
async function open(from = '', to = '', size = {}) {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {View} = await import(module(source.replace(from, to) + `// ${views++}`)), {buttons} = await import(module(pad))
  const canvas = new Part()
  const view = new View(Object.assign(new Part(), size), canvas, {x: 0, y: 0, w: 4000, h: 3000})
  const taps = []
  view.addEventListener('tap', event => taps.push(event.detail))
  const hand = (type, clientX, clientY, more) => canvas.dispatchEvent(Object.assign(new Event(type, {cancelable: true}), {clientX, clientY, pointerId: 1, button: 0, pointerType: 'touch', ...more}))
  return {view, buttons, taps, hand}
}

const presses = {
  'pressed and let go': [[['pointerdown', 50, 50], ['pointerup', 50, 50]], 1],
  'pressed and not let go': [[['pointerdown', 50, 50]], 0],
  'pressed, moved away and let go': [[['pointerdown', 50, 50], ['pointermove', 90, 60], ['pointerup', 90, 60]], 0],
  'pressed, moved away and back': [[['pointerdown', 50, 50], ['pointermove', 90, 60], ['pointermove', 50, 50], ['pointerup', 50, 50]], 0],
  'pressed and taken over by the browser': [[['pointerdown', 50, 50], ['pointercancel', 50, 50]], 0],
  'pressed by a hand that trembles': [[['pointerdown', 50, 50], ['pointermove', 53, 52], ['pointerup', 53, 52]], 1],
}

async function taps(from, to) {
  const wrong = []
  for (const [what, [events, want]] of Object.entries(presses)) {
    const {hand, taps} = await open(from, to)
    for (const event of events) hand(...event)
    if (taps.length !== want) wrong.push(`${what}: ${taps.length} taps`)
  }
  return wrong
}

test('a press acts only when it ends where it began', async () => {
  assert.deepEqual(await taps(), [])
  assert.notDeepEqual(await taps("event.type === 'pointerup' && ", ''), [])
  assert.notDeepEqual(await taps(' && this.#travel < STILL', ''), [])
})

test('a map that has no size yet can be drawn', async () => {
  for (const [planted, from, to] of [[false], [true, 'clientWidth, 1)', 'clientWidth, 0)'], [true, 'clientHeight, 1)', 'clientHeight, 0)']]) {
    const {view} = await open(from, to, {clientWidth: 0, clientHeight: 0})
    const drawn = [view.scale, view.width / view.scale, view.height / view.scale, view.canvas.width, view.canvas.height].every(n => n > 0 && Number.isFinite(n))
    assert.equal(drawn, !planted)
  }
})

test('a map is drawn anew when its room changes, and keeps its picture when it does not', async () => {
  const wiped = async (from, to) => {
    const {view} = await open(from, to)
    let times = 0
    Object.defineProperty(view.canvas, 'width', {set() { times++ }}) // which empties it
    resized() // as soon as it is observed
    const first = times
    view.frame.clientHeight = 500
    resized()
    return [first, times]
  }
  assert.deepEqual(await wiped(), [0, 1])
  assert.notDeepEqual(await wiped('return false', ''), [0, 1])
  assert.notDeepEqual(await wiped(', height, ratio]}` ===', ', ratio]}` ==='), [0, 1])
})

test('all that pinching and dragging do is done by single presses of buttons and keys', async () => {
  const group = globalThis.group = new Part()
  const {view, buttons} = await open()
  buttons(view, () => view.fly(...view.all))
  const press = zoom => group.dispatchEvent(Object.defineProperty(new Event('click'), 'target', {value: {closest: () => ({dataset: {zoom}})}}))
  const key = key => group.dispatchEvent(Object.assign(new Event('keydown', {cancelable: true}), {key}))
  const before = view.scale
  press('in')
  press('in')
  assert.ok(view.scale > before * 3, `two presses zoom from ${before} to ${view.scale}`)
  for (const [name, axis, sign] of [['ArrowRight', 'x', 1], ['ArrowDown', 'y', 1], ['ArrowLeft', 'x', -1], ['ArrowUp', 'y', -1]]) {
    const was = view[axis]
    key(name)
    assert.ok((view[axis] - was) * sign > 0, `${name} leads from ${was} to ${view[axis]}`)
  }
  const near = view.scale
  press('out')
  assert.ok(view.scale < near)
  press('all')
  assert.equal(view.scale, view.least)
  assert.ok(view.whole)
})

test('an arrow moves the map by a single press, no drag', async () => {
  const {view, buttons} = await open()
  globalThis.group = new Part()
  buttons(view, () => {})
  assert.equal(group.innerHTML.match(/data-pan/g).length, 4)
  const press = pan => group.dispatchEvent(Object.defineProperty(new Event('click'), 'target', {value: {closest: () => ({dataset: {pan}})}}))
  view.jump({left: 1800, right: 2000, top: 1400, bottom: 1500})
  for (const [arrow, dx, dy] of [['Left', -1, 0], ['Right', 1, 0], ['Up', 0, -1], ['Down', 0, 1]]) {
    const {x, y} = view
    press(arrow)
    assert.deepEqual([Math.sign(view.x - x), Math.sign(view.y - y)], [dx, dy], arrow)
  }
})

test('a finger that stays asks what is there, and takes nothing', async t => {
  t.mock.timers.enable({apis: ['setTimeout']})
  const noticed = async (does, from, to) => {
    const {view, taps, hand} = await open(from, to), asked = []
    view.addEventListener('press', event => asked.push([event.detail.x, event.detail.y]))
    does(hand)
    return [asked.length, taps.length]
  }
  const stays = hand => { hand('pointerdown', 50, 60); t.mock.timers.tick(600); hand('pointermove', 52, 60); hand('pointerup', 52, 60) }
  const cases = {
    stays: [stays, [1, 0]],
    'taps': [hand => { hand('pointerdown', 50, 60); t.mock.timers.tick(100); hand('pointerup', 50, 60); t.mock.timers.tick(600) }, [0, 1]],
    'drags': [hand => { hand('pointerdown', 50, 60); hand('pointermove', 90, 60); t.mock.timers.tick(600); hand('pointerup', 90, 60) }, [0, 0]],
    'is a mouse': [hand => { hand('pointerdown', 50, 60, {pointerType: 'mouse'}); t.mock.timers.tick(600); hand('pointerup', 50, 60, {pointerType: 'mouse'}) }, [0, 1]],
    'stays, and then another taps': [hand => { stays(hand); hand('pointerdown', 50, 60); hand('pointerup', 50, 60) }, [1, 1]],
    'stays beside another': [hand => { hand('pointerdown', 50, 60); hand('pointerdown', 80, 60, {pointerId: 2}); t.mock.timers.tick(600); hand('pointerup', 50, 60); hand('pointerup', 80, 60, {pointerId: 2}) }, [0, 0]],
  }
  for (const [what, [does, want]] of Object.entries(cases)) assert.deepEqual(await noticed(does), want, what)
  assert.deepEqual(await noticed(stays, '    this.#pressed = true\n', ''), [1, 1], 'a long press that takes a seat is not noticed')
})

test('a pinch zooms around the finger that rests', async () => {
  const {view, hand} = await open()
  hand('pointerdown', 100, 100)
  hand('pointerdown', 200, 100, {pointerId: 2})
  const [x, y] = view.plan(100, 100)
  hand('pointermove', 300, 100, {pointerId: 2})
  const [px, py] = view.plan(100, 100)
  assert.ok(view.scale > view.least * 1.9, `the scale is ${view.scale / view.least} times the least`)
  assert.ok(Math.hypot(px - x, py - y) < 1, 'what was under the resting finger went away')
})

test('a map that was moved says when it rests', async t => {
  t.mock.timers.enable({apis: ['setTimeout']})
  const heard = async (does, from, to) => {
    const {view, hand} = await open(from, to), moves = []
    view.jump({left: 1800, right: 2000, top: 1400, bottom: 1500})
    view.addEventListener('move', () => moves.push(view.moving))
    does(hand, view)
    return moves
  }
  const drag = hand => { hand('pointerdown', 50, 50); hand('pointermove', 90, 60); hand('pointermove', 99, 60); t.mock.timers.tick(1000); hand('pointerup', 99, 60) }
  const pinch = hand => { hand('pointerdown', 50, 50); hand('pointerdown', 90, 50, {pointerId: 2}); hand('pointermove', 140, 50, {pointerId: 2}); hand('pointerup', 140, 50, {pointerId: 2}); hand('pointermove', 55, 50); hand('pointerup', 55, 50) }
  const wheel = hand => { hand('wheel', 50, 50, {deltaY: -9, deltaMode: 0}); hand('wheel', 50, 50, {deltaY: -9, deltaMode: 0}); t.mock.timers.tick(1000) }
  assert.deepEqual(await heard(drag), [true, true, false])
  assert.deepEqual(await heard(pinch), [true, true, false])
  assert.deepEqual(await heard(wheel), [true, true, false])
  assert.deepEqual(await heard(hand => { hand('pointerdown', 50, 50); hand('pointerup', 50, 50) }), []) // a tap
  assert.deepEqual(await heard((_, view) => view.pan(.25, 0)), [false]) // without motion
  assert.notDeepEqual(await heard(drag, "    this.#rest()\n  ", '  '), [true, true, false])
  assert.notDeepEqual(await heard(pinch, '    if (this.#pointers.size) return\n', ''), [true, true, false])
  assert.notDeepEqual(await heard(wheel, 'setTimeout(() => this.#rest(), REST)', '0'), [true, true, false])
})
