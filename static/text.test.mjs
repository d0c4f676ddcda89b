// Messages in the language of a page.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/text.js', import.meta.url), 'utf8')

let pages = 0
// open is the module on a page with the messages of a language, as package static writes them.
async function open(language, words) {
  const rules = new Intl.PluralRules(language)
  globalThis.said = words && {words, plural: n => rules.select(n)}
  return import(`data:text/javascript,${encodeURIComponent(source)}// ${pages++}`)
}

test('without messages a page speaks English', async () => {
  const {N, T, number} = await open('en')
  assert.equal(T('Zoom in'), 'Zoom in')
  assert.equal(T('%s, row %s, seat %s', 'Stalls', 'C', 12), 'Stalls, row C, seat 12')
  assert.deepEqual([0, 1, 1200].map(n => N('%d seat', '%d seats', n)), ['0 seats', '1 seat', '1,200 seats'])
  assert.equal(number(50000), '50,000')
})

test('a German page says German sentences, and English ones where it has none', async () => {
  const {N, T, number} = await open('de', {
    ',': '.', '%s was just taken.': '%s wurde gerade anderweitig gebucht.', '%[1]s%[2]s': '%[2]s %[1]s', '%d seat': {one: '%d Platz', other: '%d Plätze'},
  })
  assert.equal(T('%s was just taken.', 'Parkett, $&'), 'Parkett, $& wurde gerade anderweitig gebucht.')
  assert.equal(T('%[1]s%[2]s', '€', '250'), '250 €')
  assert.equal(T('Zoom in'), 'Zoom in')
  assert.deepEqual([1, 2, 1200].map(n => N('%d seat', '%d seats', n)), ['1 Platz', '2 Plätze', '1.200 Plätze'])
  assert.equal(N('%d row', '%d rows', 2), '2 rows')
  assert.equal(number(1234567), '1.234.567')
})

test('a language has as many forms as CLDR says', async () => {
  const {N} = await open('pl', {'%d seat': {one: '%d miejsce', few: '%d miejsca', many: '%d miejsc'}})
  assert.deepEqual([1, 3, 5, 22].map(n => N('%d seat', '%d seats', n)), ['1 miejsce', '3 miejsca', '5 miejsc', '22 miejsca'])
})
