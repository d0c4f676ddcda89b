// Seats as dots: most of them are drawn from what is known of all of their kind, and look as if each were looked into.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const module = source => `data:text/javascript,${encodeURIComponent(source)}`
const read = name => readFileSync(new URL(`js/${name}.js`, import.meta.url), 'utf8')
const source = read('paint').replace("'usher/sheet'", JSON.stringify(module(read('sheet'))))
const colours = {'--p0': 1, '--p1': 2, '--p2': 3, '--p3': 4, '--p4': 5, '--mine': 6, '--alarm': 7, '--held': 8, '--edge': 9, '--sold': 10}

// A canvas filled with pixels of one color, and the image put onto one last.
let put
const pen = {putImageData(image) { put = new Uint32Array(image.data.buffer).slice() }, getImageData() { return {data: Uint32Array.of(0xff000000 + Number(this.fillStyle))} }}
function canvas(width, height) {
  const made = {width, height, style: {}, before() {}, getContext: () => g}, g = new Proxy({...pen, canvas: made}, {get: (own, name) => own[name] ?? (() => {})})
  return made
}
Object.assign(globalThis, {
  document: {documentElement: {}, createElement: () => canvas(300, 150)}, matchMedia: () => ({matches: false}),
  getComputedStyle: () => ({getPropertyValue: name => String(colours[name] ?? 0)}),
  ImageData: class { constructor(width, height) { Object.assign(this, {width, height, data: new Uint8ClampedArray(width * height * 4)}) } },
})

const some = n => Math.floor(Math.random() * n)
const n = 60
const house = {n, here: () => true, x: Float32Array.from({length: n}, (_, i) => i % 10 * 4 + 2), y: Float32Array.from({length: n}, (_, i) => Math.floor(i / 10) * 4 + 2), category: new Uint8Array(n), flags: new Uint8Array(n), section: new Uint16Array(n), sections: [{first: 0, count: n, pitch: 4, left: 0, right: 40, top: 0, bottom: 24}]}

let painters = 0
// wrong is how many of a hundred houses look otherwise, with a fault where the test plants one.
async function wrong(from = '', to = '') {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {Painter} = await import(module(`${source.replace(from, to)}// ${painters++}`))
  class Each extends Painter { usual() {} }
  let differ = 0
  for (let i = 0; i < 100; i++) {
    house.category = house.category.map(() => some(7))
    const mine = new Map(Array.from({length: some(4)}, () => [some(n), ''])), lapsed = some(2) === 0
    const asked = new Map(Array.from({length: some(3)}, () => [some(n), some(2) === 0]))
    const hold = {seats: mine, asked, has: idx => asked.get(idx) ?? (!lapsed && mine.has(idx)), ghost: idx => lapsed && mine.has(idx)}
    const filter = {on: () => i % 2 > 0, fits: idx => i % 2 === 0 || house.category[idx] === 1}
    const live = {states: some(5) ? Uint8Array.from({length: n}, () => some(4)) : null}
    const [one, other] = [Painter, Each].map(kind => {
      new kind(canvas(40, 24), house, hold, live, () => '', filter).draw({x: 0, y: 0, scale: 1, width: 40, height: 24, ratio: 1, moving: false})
      return put
    })
    if (`${one}` !== `${other}`) differ++
  }
  return differ
}

test('a seat drawn with all of its kind looks as it would by itself', async () => {
  assert.equal(await wrong(), 0)
  for (const [from, to] of [['% HUES * 4 + state', '% HUES * 4'], ['i >> 2]', 'i & 3]'], ['usual && !own.has(idx)', 'usual'], ["name === 'free' || name === 'mine' ? 0 : 1", '1']]) {
    assert.notEqual(await wrong(from, to), 0, `${from} may be ${to}`)
  }
})
