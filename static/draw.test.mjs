// The browser's draw, on the records that the server's tests write: two million people among them.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const source = read('js/draw.js')
const text = 'data:text/javascript;base64,' + btoa(read('js/text.js'))
const load = source => import('data:text/javascript,' + encodeURIComponent(source.replace('usher/text', text)))
const {numbers, reduce, seed, verify} = await load(source)
const golden = JSON.parse(read('../seats/waitingroom/testdata/draw.json'))

for (const {name, record, first, last} of golden.draws) {
  test(`the page draws as the server: ${name}`, async () => {
    const {wrong, table} = await verify(record)
    assert.deepEqual(wrong, [])
    assert.equal(table.length, record.people)
    assert.deepEqual([...table.slice(0, 5)], first)
    if (last.length) assert.deepEqual([...table.slice(-5)], last)
  })
}

test('a word becomes the same number, or is refused by both', () => {
  for (const {word, limit, value} of golden.words) assert.equal(reduce(word, limit), value, `${word} below ${limit}`)
})

const five = golden.draws.find(g => g.record.people === 5).record
const spoilt = {
  'another secret': r => { r.secret = r.secret.replace(/^../, b => b === '00' ? '01' : '00') },
  'another commitment': r => { r.commitment = '0'.repeat(64) },
  'one person more': r => { r.people++ },
  'another room': r => { r.room++ },
  'another epoch': r => { r.epoch++ },
  'another beacon': r => { r.beacon.value += '00' },
  'a beacon that is none': r => { r.beacon.kind = 'none' },
  'another seed': r => { r.seed = '0'.repeat(64) },
  'other numbers': r => { r.sum = '0'.repeat(64) },
  'another format': r => { r.format = 'usher/draw/v0' },
  'more people than there are': r => { r.people = 1e12 },
}
for (const [name, spoil] of Object.entries(spoilt)) {
  test(`the page notices ${name}`, async () => {
    const r = structuredClone(five)
    spoil(r)
    assert.notDeepEqual((await verify(r)).wrong, [])
  })
}

const faults = {
  'the wrong end first': ['view.getUint32(at)', 'view.getUint32(at, true)'],
  'one too short': ['i + 1)\n', 'i)\n'],
  'a remainder': ['reduce(view.getUint32(at), i + 1)', 'view.getUint32(at) % (i + 1)'],
  'no words after the first chunk': ['await words(key, chunk)', 'await words(key, 0)'],
  'no word refused': ['< 4294967296 % limit', '< 0'],
  'high words cut off': ['(word >>> 16)', '(word >>> 16 & 32767)'],
}
const million = golden.draws.at(-1)
for (const [name, [from, to]] of Object.entries(faults)) {
  test(`a planted fault is noticed: ${name}`, async () => {
    assert.ok(source.includes(from), `the script has no ${from} any more`)
    const wrong = await load(source.replace(from, to))
    const same = [...await wrong.numbers(million.record.seed, million.record.people).then(t => t.slice(0, 5))].join() === million.first.join()
    const words = golden.words.every(g => wrong.reduce(g.word, g.limit) === g.value)
    assert.ok(!same || !words)
  })
}
