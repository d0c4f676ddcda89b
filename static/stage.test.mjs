// What a move of the map costs the page: nothing but a style.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const module = source => 'data:text/javascript,' + encodeURIComponent(source)
const stubs = {
  geometry: 'export const unpack = house => house, inside = () => false',
  label: 'export const nameFloors = () => {}',
  page: 'export const data = {}, $ = (selector, root) => root.parts[selector], $$ = () => []',
  sheet: readFileSync(new URL('js/sheet.js', import.meta.url), 'utf8'),
  overlay: 'export const start = () => {}',
  view: 'export class View extends EventTarget { constructor() { super(); Object.assign(this, {x: 0, y: 0, scale: 1, width: 400, height: 300, ratio: 1, moving: false, whole: false, least: 1}) } }',
}
let source = readFileSync(new URL('js/stage.js', import.meta.url), 'utf8')
for (const [name, stub] of Object.entries(stubs)) source = source.replace(`'usher/${name}'`, JSON.stringify(module(stub)))

const did = globalThis.did = []
let frames = []
Object.assign(globalThis, {
  document: Object.assign(new EventTarget(), {hidden: false}), matchMedia: () => new EventTarget(), addEventListener() {}, removeEventListener() {},
  requestAnimationFrame: does => frames.push(does), cancelAnimationFrame() {},
  fetch: async () => ({ok: true, json: async () => ({sections: [{pitch: 10}]})}),
})

// part is an element that notes what is done to it.
function part(name, more) {
  const style = new Proxy({}, {set: (own, key, value) => { if (own[key] !== value) did.push(`${name} ${key}`); own[key] = value; return true }})
  const classList = {now: new Set(), add() {}, toggle(of, yes) { if (this.now.has(of) !== yes) did.push(`${name} ${of}`); this.now[yes ? 'add' : 'delete'](of) }}
  return {name, style, classList, dataset: {}, setAttribute: key => did.push(`${name} ${key}`), getAttribute: () => '0 0 400 300', set hidden(_) { did.push(`${name} hidden`) }, get hidden() { return true }, ...more}
}

let stages = 0
// pan is what is done to the map by a drag of sixty frames, and by its end.
async function pan(from = '', to = '') {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {Stage} = await import(module(source.replace(from, to) + `// ${stages++}`))
  const parts = {canvas: part('canvas', {width: 400, height: 300}), svg: part('drawing'), '.card': part('card')}
  const stage = new Stage(part('frame', {parts})), painter = {touch() { did.push('seats') }, draw: () => false}
  await stage.load()
  stage.show(painter)
  const {view} = stage, next = () => { const now = frames; frames = []; now.forEach(does => does(0)) }
  const move = more => { Object.assign(view, more); view.dispatchEvent(new Event('move')) }
  next()
  did.length = 0
  for (let i = 1; i <= 60; i++) {
    move({x: i, moving: true})
    move({x: i + .5, moving: true}) // two of the hand for one frame
    next()
  }
  const dragged = did.splice(0)
  move({moving: false})
  next()
  return [dragged, did.splice(0)]
}

test('a drag moves the picture once for each frame, and does nothing else', async () => {
  const [dragged, rested] = await pan()
  assert.deepEqual(dragged, Array(60).fill('drawing transform'))
  assert.deepEqual(rested, ['drawing viewBox', 'drawing transform'])
  assert.notDeepEqual((await pan('if (!this.view.moving) ', ''))[0], dragged)
  assert.notDeepEqual((await pan('if (!this.card.hidden) ', ''))[0], dragged)
  assert.notDeepEqual((await pan('this.#at?.scale !== view.scale', 'true'))[1], rested)
})
