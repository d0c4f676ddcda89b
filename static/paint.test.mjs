// Seats as dots: most of them are drawn from what is known of all of their kind, and look as if each were looked into.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/paint.js', import.meta.url), 'utf8')
const colours = {'--p0': 1, '--p1': 2, '--p2': 3, '--p3': 4, '--p4': 5, '--mine': 6, '--alarm': 7, '--held': 8, '--edge': 9, '--sold': 10}

// A canvas whose colours are pixels of that number, and what was put onto it last.
let put
const pen = new Proxy({putImageData(image) { put = new Uint32Array(image.data.buffer).slice() }, getImageData() { return {data: Uint32Array.of(0xff000000 + Number(this.fillStyle))} }}, {get: (own, name) => own[name] ?? (() => {})})
Object.assign(globalThis, {
  document: {documentElement: {}, createElement: () => ({getContext: () => pen})}, matchMedia: () => ({matches: false}),
  getComputedStyle: () => ({getPropertyValue: name => String(colours[name] ?? 0)}),
  ImageData: class { constructor(width, height) { Object.assign(this, {width, height, data: new Uint8ClampedArray(width * height * 4)}) } },
})

const some = n => Math.floor(Math.random() * n)
const n = 60
const house = {n, x: Float32Array.from({length: n}, (_, i) => i % 10 * 4 + 2), y: Float32Array.from({length: n}, (_, i) => Math.floor(i / 10) * 4 + 2), category: new Uint8Array(n), flags: new Uint8Array(n), section: new Uint16Array(n), sections: [{first: 0, count: n, pitch: 4, left: 0, right: 40, top: 0, bottom: 24}]}

let painters = 0
// wrong is how many of a hundred houses look otherwise, with a fault where the test plants one.
async function wrong(from = '', to = '') {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  const {Painter} = await import(`data:text/javascript,${encodeURIComponent(source.replace(from, to))}// ${painters++}`)
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
      new kind({width: 40, height: 24, getContext: () => pen}, house, hold, live, () => '', filter).draw({x: 0, y: 0, scale: 1}, 40, 24, 1, false)
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

test('a map that gets another size while it moves is drawn anew, and not empty', async () => {
  const painted = async (from = '', to = '') => {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    const {Painter} = await import(`data:text/javascript,${encodeURIComponent(source.replace(from, to).replace('SLOW = 6', 'SLOW = -1'))}// ${painters++}`)
    const hold = {seats: new Map(), asked: new Map(), has: () => false, ghost: () => false}, canvas = {width: 40, height: 24, getContext: () => pen}
    const painter = new Painter(canvas, house, hold, {states: null}, () => '')
    painter.draw({x: 0, y: 0, scale: 1}, 40, 24, 1, true)
    put = undefined
    painter.touch()
    painter.draw({x: 1, y: 0, scale: 1}, 40, 24, 1, true)
    const slid = put === undefined
    canvas.width = 80
    painter.draw({x: 1, y: 0, scale: 1}, 80, 24, 1, true)
    return [slid, put !== undefined]
  }
  assert.deepEqual(await painted(), [true, true])
  assert.deepEqual(await painted('this.#at] = [canvas.width, canvas.height, undefined]', 'this.#stale] = [canvas.width, canvas.height, true]'), [true, false])
})
