// Numbers and money, as the server writes them.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const module = source => `data:text/javascript,${encodeURIComponent(source)}`
const source = read('js/page.js')
const amounts = JSON.parse(readFileSync(new URL('testdata/money.json', import.meta.url)))
const decimals = {JPY: '0', KWD: '3', CLF: '4'} // those that a page says: not two

let pages = 0
// open is the module on a page about a currency, with a fault where the test plants one.
async function open(currency, text, from = '', to = '') {
  assert.ok(source.includes(from), `the script has no ${from} any more`)
  Object.assign(globalThis, {document: {body: {dataset: {money: text.replace(/\d[\d,.]*/, '%s'), decimals: decimals[currency]}}}, matchMedia: () => ({})})
  return import(module(source.replace(from, to).replace("'usher/text'", JSON.stringify(module(read('js/text.js'))))) + `// ${pages++}`)
}

async function wrong(from, to) {
  const all = []
  for (const {currency, minor, text} of amounts) {
    const {money} = await open(currency, text, from, to)
    if (money(minor) !== text) all.push(`${money(minor)}, want ${text}`)
  }
  return all
}

test('the page writes amounts as the server does', async () => {
  assert.deepEqual(await wrong(), [])
  for (const [from, to] of [['.padStart(digits, 0)', ''], ['Math.floor(minor / unit)', '(minor / unit)'], ['?? 2', '&& 2']]) {
    assert.notDeepEqual(await wrong(from, to), [], `${from} may be ${to}`)
  }
})

test('a number has its thousands apart', async () => {
  const {number} = await open('EUR', '€')
  for (const n of [0, 7, 999, 1000, 12345, 999999, 1000000, 50000]) assert.equal(number(n), n.toLocaleString('en'))
})
