// Rotating codes: what devices and pages make is what the server makes (package orders, TestRotatingCode_LettersAreThoseOfTheBrowser).

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const {isOfMoment, lettersOf, stepAt} = await import(`data:text/javascript,${encodeURIComponent(readFileSync(new URL('js/rotation.js', import.meta.url), 'utf8'))}`)
const KEY = Buffer.from('0123456789abcdef').toString('base64')

test('the letters of a step', async () => {
  for (const [step, letters] of [[0, '9CE05'], [1, 'ENP16'], [119999999, '2MPG0']]) assert.equal(await lettersOf(KEY, step), letters)
  assert.equal(stepAt(1799999999999), 119999999)
})

test('letters hold for two steps before and after their own', async () => {
  const at = 1800000000000, letters = await lettersOf(KEY, stepAt(at))
  for (const [ms, holds] of [[-30001, false], [-30000, true], [0, true], [44999, true], [45000, false]]) assert.equal(await isOfMoment(KEY, letters, at + ms), holds, `${ms} ms`)
  assert.equal(await isOfMoment(KEY, '', at), false)
})
