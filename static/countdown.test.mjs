// The time that is left of a hold, on the machines people have: clocks that drift, are set, stand still while the lid is
// closed; tabs in the background; a network that is slow now and then. What is judged is the largest error of all.

import assert from 'node:assert/strict'
import test from 'node:test'
import {World} from './testdata/world.mjs'

const EARLY = 2000 // ms the page ends the time before the box office does
const MAY = 50 // ms, besides half a round trip
const HOUR = 3600e3

// wrong is how far a countdown is from the time that is left. A second stands for all between it and the one before.
function wrong(text, left) {
  const [, m, s] = /(\d+):(\d\d)/.exec(text), shown = (m * 60 + Number(s)) * 1000
  return Math.max(left - shown, shown && shown - 1000 - left, 0)
}

// sit plays a visitor who takes a seat, extends the hold whenever asked, and takes the seat again when it expired. It returns the
// largest error of what they saw less what it may be, and what happened.
async function sit(world, plan) {
  const seen = {worst: -Infinity, shown: 0, asked: 0, lapses: 0, latest: 0}
  await world.open()
  const {hold, claim, extend} = world.hold
  let last, judging = true
  const judge = (text, may) => {
    if (!world.told || world.db() > world.told || !judging) return
    seen.worst = Math.max(seen.worst, wrong(text, world.told - EARLY - world.db()) - may)
    seen.shown++
  }
  const note = text => {
    const may = Math.min(...world.trips.slice(-8)) / 2 + MAY + (world.throttled ? 1000 : 0) // of no trip: anything
    if (last && last.told === world.told) judge(last.text, last.may) // it stood until now
    judge(text, may)
    last = {text, may, told: world.told}
  }
  world.tray.querySelector('[data-countdown]').onwrite = note
  world.dialog.onshow = () => {
    seen.asked++
    world.at(3000, () => { extend(); world.dialog.close() })
  }
  hold.addEventListener('change', () => {
    if (!hold.lapsed || !hold.seats.size || hold.settling(3)) return
    seen.lapses++
    if (judging && world.told) seen.latest = Math.max(seen.latest, Math.abs(world.db() - world.told))
    world.at(5000, () => claim(3, 'Floor/1/1'))
  })
  await world.pass(1500) // it knows the time
  claim(3, 'Floor/1/1')
  await plan(world, yes => { judging = yes; last = undefined })
  return seen
}

const plain = ms => world => world.pass(ms)

// wakes closes the lid now and then, for a minute or for hours, and judges from a second and the answer after it was opened.
const wakes = stands => async (world, judge) => {
  for (const ms of [60e3, 3 * HOUR, 90e3, HOUR / 2, 20e3, 8 * HOUR]) {
    await world.pass(100e3)
    judge(false)
    await world.sleep(ms, stands)
    await world.pass(10e3)
    judge(true)
    await world.pass(200e3)
  }
}

const sets = async world => {
  for (const by of [HOUR, -2 * HOUR, HOUR, 5000]) {
    await world.pass(130e3)
    world.set += by
  }
}

const cases = {
  'for eight hours, with all its extensions, on a clock that is too fast': [{drift: 100e-6}, plain(8 * HOUR), {asked: 60, lapses: 5}],
  'on a clock that is an hour slow and gets slower': [{drift: -100e-6, ahead: HOUR}, plain(HOUR), {asked: 9}],
  'on a clock that is an hour fast': [{ahead: -HOUR}, plain(HOUR / 2), {asked: 4}],
  'on a clock that is set meanwhile': [{}, sets, {asked: 1}],
  'in a tab in the background': [{throttled: true}, plain(HOUR), {asked: 9}],
  'on a machine that sleeps, and its clock with it': [{}, wakes(true), {lapses: 3}],
  'on a machine that sleeps while its clock goes on': [{}, wakes(false), {lapses: 3}],
}

for (const [what, [how, plan, least]] of Object.entries(cases)) {
  test(`the countdown is right ${what}`, async t => {
    const seen = await sit(new World(how), plan)
    t.diagnostic(`${seen.shown} looks, asked ${seen.asked} times, ${seen.lapses} lapses; ${Math.round(-seen.worst)} ms less than it may be off`)
    assert.ok(seen.latest <= (how.throttled ? 1350 : 350), `a lapse was said ${seen.latest} ms away from its time`)
    assert.ok(seen.worst <= 0, `it was off by ${seen.worst} ms more than it may`)
    for (const [k, n] of Object.entries(least)) assert.ok(seen[k] >= n, `${k}: ${seen[k]}, want ${n}`)
  })
}

// Planted into the scripts: each must be seen as too large an error.
const faults = {
  'takes the slowest answer for the best': [{clock: [['r.trip <= best.trip', 'r.trip > best.trip']]}, {}, plain(HOUR / 4)],
  'never forgets an answer': [{clock: [['this.#readings.slice(1 - READINGS)', 'this.#readings']]}, {drift: 300e-6}, plain(2 * HOUR)],
  'believes the clock of the machine': [{clock: [['now() { return performance.now() + this.#offset }', 'now() { return Date.now() }']]}, {}, plain(HOUR / 4)],
  'does not notice that the machine slept': [{clock: [['Math.abs(this.#lag - before) > LEAP', 'false']]}, {}, wakes(true)],
  'ends the time as late as the box office': [{hold: [['EARLY = 2000', 'EARLY = 0']]}, {}, plain(HOUR / 4)],
  'counts down instead of looking at the clock': [{hold: [['const ms = showTime()', 'const ms = (hold.deadline += 3, showTime())']]}, {}, plain(HOUR / 4)],
  'looks at the clock too seldom': [{hold: [['ms % 1000 + 1', 'TICK'], ['TICK = 250', 'TICK = 390']]}, {}, plain(HOUR / 4)],
}

for (const [what, [planted, how, plan]] of Object.entries(faults)) {
  test(`a countdown that ${what} is noticed`, async () => {
    const seen = await sit(new World({...how, faults: planted}), plan)
    assert.ok(seen.worst > 0, `it was ${-seen.worst} ms less off than it may`)
  })
}

// order plays a checkout of some minutes. It returns the largest error of the time shown, less what it may be.
async function order(world, plan) {
  let worst = -Infinity, judging = true, shown = 0
  await world.checkout()
  document.querySelector('[data-countdown]').onwrite = text => {
    const may = Math.min(8000, ...world.trips.slice(-8)) / 2 + MAY
    if (judging) worst = Math.max(worst, wrong(text, world.told - EARLY - world.db()) - may)
    shown++
  }
  await plan(world, yes => { judging = yes })
  assert.ok(shown > 200, `${shown} looks`)
  return worst
}

const nap = stands => async (world, judge) => {
  await world.pass(60e3)
  judge(false)
  await world.sleep(70e3, stands)
  await world.pass(10e3)
  judge(true)
  await world.pass(200e3)
}

const setTwice = async world => {
  for (const by of [HOUR, -2 * HOUR]) {
    await world.pass(60e3)
    world.set += by
  }
  await world.pass(100e3)
}

for (const [what, [how, plan]] of Object.entries({
  'on a clock that is set meanwhile': [{}, setTwice], 'on a clock that is an hour fast': [{ahead: -HOUR}, plain(7 * 60e3)],
  'on a machine that sleeps, and its clock with it': [{}, nap(true)], 'on a machine that sleeps while its clock goes on': [{}, nap(false)],
})) test(`the time at the checkout is right ${what}`, async () => {
  for (let seed = 1; seed < 9; seed++) assert.ok(await order(new World({...how, seed}), plan) <= 0, `seed ${seed}`)
})

for (const [what, [planted, plan]] of Object.entries({
  'believes the clock of the machine': [{clock: [['now() { return performance.now() + this.#offset }', 'now() { return Date.now() + 3600e3 }']]}, setTwice],
  'does not notice that the machine slept': [{clock: [['Math.abs(this.#lag - before) > LEAP', 'false']]}, nap(true)],
  'does not ask when it was away': [{checkout: [["clock.addEventListener('wake', renew)", '']]}, nap(true)],
})) test(`a checkout that ${what} is noticed`, async () => {
  assert.ok(await order(new World({faults: planted}), plan) > 0)
})
