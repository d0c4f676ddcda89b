// The house on the desk: the same picture as the attendees', in the colours of an organizer. What is sold is a full disc,
// what is held a ring, what is free a small dot; colours tell the state, the price or the time of the sale.

import {labelOf, numberOf} from 'usher/geometry'
import {words} from 'usher/label'
import {Replay} from 'usher/desk_replay'
import {live, start as startLive} from 'usher/live'
import {$, $$, data, locale, number, price} from 'usher/page'
import {DOT, Painter, packed, radius} from 'usher/paint'
import {Stage} from 'usher/stage'
import {T} from 'usher/text'

const MOUSE = 8, STEPS = 6
const SKIP = 1000 // ms without a change that a replay skips
const FREE = 0, HELD = 1, SOLD = 2, BLOCKED = 3
const STATES = [T('free'), T('held'), T('sold'), T('blocked')]
const SHAPES = ['sold', 'held', 'free', 'sold'] // of Painter: a small dot, a ring, a disc

const frame = $('#live-map #map'), stage = frame && new Stage(frame)
const none = {has: () => false, ghost: () => false, seats: new Map(), asked: new Map()}
let house, view, by = 'state'
let replay, playing, shown = live // what is looked at: the sale as it is, or as it was

// Heat is a painter that knows what organizers want to see.
class Heat extends Painter {
  recolour() {
    super.recolour()
    const css = getComputedStyle(document.documentElement), get = name => css.getPropertyValue(name).trim()
    const forced = matchMedia('(forced-colors: active)').matches
    const own = {
      states: ['--d-free', '--d-held', '--d-sold', '--d-blocked'].map(name => forced ? 'CanvasText' : get(name)),
      times: Array.from({length: STEPS}, (_, i) => forced ? 'CanvasText' : get(`--h${i}`)),
    }
    Object.assign(this.theme, own)
    this.packed.states = own.states.map(packed)
    this.packed.times = own.times.map(packed)
  }
  usual() {} // each seat may have its own time

  // all fills sections in which seats would be dots with the share that is sold.
  *all(g, view) {
    yield* super.all(g, view)
    if (by !== 'state') return
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    for (const s of house.sections) {
      if (!house.here(s) || s.pitch && radius(s, view) >= DOT) continue
      yield
      fill(g, s, view, this.theme)
    }
  }

  state(idx) { return SHAPES[shown.states ? shown.states[idx] : 0] }
  colour(idx, _, of) {
    const state = shown.states ? shown.states[idx] : FREE
    if (state !== SOLD || by === 'state') return of.states[state]
    return by === 'price' ? of.prices[house.category[idx] % of.prices.length] : of.times[stepOf(idx)]
  }
}

// stepOf is when a seat was sold, as one of a few parts of the sale.
function stepOf(idx) {
  const at = replay?.soldAt[idx]
  if (!at) return STEPS - 1
  const first = replay.times[0], last = replay.times[replay.length - 1]
  return Math.min(STEPS - 1, Math.floor((at - first) / (last - first + 1) * STEPS))
}

function tapped({detail: {x, y}}) {
  const at = stage.sectionAt(x, y)
  if (at >= 0) view.show(house.sections[at])
}

function hover(event) {
  if (event.pointerType !== 'mouse' || event.buttons) {
    stage.hush()
    return
  }
  const {x, y} = view.at(event), idx = stage.seatAt(x, y, MOUSE), at = stage.sectionAt(x, y)
  if (idx >= 0) stage.tell(x, y, words(labelOf(house, idx)), describe(idx))
  else if (at >= 0) stage.tell(x, y, house.sections[at].name, describeSection(house.sections[at]))
  else stage.hush()
}

function describe(idx) {
  const cost = house.categories[house.category[idx]], state = shown.states?.[idx] ?? FREE
  const when = state === SOLD && replay?.soldAt[idx] ? T('sold at %s', clock(replay.soldAt[idx])) : STATES[state]
  return T('%s, %s · %s', cost.name, price(cost.price), when)
}

// fill draws a section as a vessel: from below to the share of it that is sold, above that what is held.
function fill(g, s, {x, y, scale}, theme) {
  const counts = countsOf(s), all = s.count - counts[BLOCKED]
  const path = new Path2D()
  for (const [px, py] of s.outline) path.lineTo((px - x) * scale, (py - y) * scale)
  path.closePath()
  g.save()
  g.fillStyle = theme.ground
  g.fill(path)
  g.clip(path)
  let bottom = (s.bottom - y) * scale
  for (const state of [SOLD, HELD]) {
    const height = all && counts[state] / all * (s.bottom - s.top) * scale
    g.fillStyle = theme.states[state]
    g.fillRect((s.left - x) * scale, bottom -= height, (s.right - s.left) * scale, height)
  }
  g.strokeStyle = theme.blocked
  g.lineWidth = 2 // half of it is clipped
  g.stroke(path)
  g.restore()
}

function countsOf(s) {
  const counts = [0, 0, 0, 0]
  for (let idx = s.first; idx < s.first + s.count; idx++) counts[shown.states?.[idx] ?? FREE]++
  return counts
}

function describeSection(s) {
  const counts = countsOf(s)
  return T('%s of %s sold, %s held', number(counts[SOLD]), number(s.count - counts[BLOCKED]), number(counts[HELD]))
}

const clocks = new Intl.DateTimeFormat(locale(), {hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: data.zone || 'UTC'})
const days = new Intl.DateTimeFormat(locale(), {day: 'numeric', month: 'short', timeZone: data.zone || 'UTC'})
const clock = at => clocks.format(at)

// legend says what the colours mean.
function legend() {
  const entry = (kind, text) => {
    const span = document.createElement('span'), dot = document.createElement('i')
    dot.className = kind
    span.append(dot, text)
    return span
  }
  const rest = [entry('of-held ring', T('held')), entry('of-free', T('free')), entry('of-blocked', T('blocked'))]
  const sold = {
    state: () => [entry('of-sold', T('sold'))],
    price: () => house.categories.map((c, i) => entry(`c${i % 5}`, T('sold, %s', c.name))),
    time: () => Array.from({length: STEPS}, (_, i) => entry(`h${i}`, i === 0 ? at(T('sold first'), 0) : i === STEPS - 1 ? at(T('sold last'), replay.length - 1) : '')),
  }[by]()
  $('[data-legend]').replaceChildren(...sold, ...rest)
}

const at = (what, change) => replay?.length ? T('%s, %s', what, clock(replay.times[change])) : what

// load gets all changes of the sale up to now.
async function load() {
  const answer = await fetch(`${data.desk}/replay.bin`)
  if (!answer.ok) throw new Error(`the replay: status ${answer.status}`)
  const position = replay?.position
  replay = new Replay(await answer.arrayBuffer())
  replay.seek(shown === live || position === undefined ? replay.length : position)
}

async function colour(event) {
  by = event.target.value
  if (by === 'time') await load()
  legend()
  stage.again()
}

const bar = $('[data-replay]'), play = bar && $('[data-play]', bar), scrub = bar && $('[data-scrub]', bar), moment = bar && $('[data-moment]', bar)

// tellMoment says which moment of the sale is seen.
function tellMoment() {
  const [, held, , ] = replay.counts, sold = replay.counts[SOLD]
  const text = replay.length ? T('%s, %s: %s sold, %s held', days.format(replay.time), clock(replay.time), number(sold), number(held)) : T('Nothing happened yet')
  moment.textContent = text
  scrub.value = replay.position
  scrub.setAttribute('aria-valuetext', text)
}

// past shows the sale as it was.
async function past() {
  if (shown !== live) return
  await load()
  shown = replay
  scrub.max = replay.length
  scrub.step = Math.max(1, Math.floor(replay.length / 500))
  scrub.disabled = false
  $('[data-now]', bar).hidden = false
  frame.classList.add('past')
}

function now() {
  stop()
  shown = live
  scrub.disabled = true
  scrub.value = scrub.max
  moment.textContent = ''
  $('[data-now]', bar).hidden = true
  play.textContent = T('Watch the sale again')
  frame.classList.remove('past')
  stage.again()
}

function stop() {
  cancelAnimationFrame(playing)
  playing = undefined
  if (shown !== live) play.textContent = replay.over ? T('Watch once more') : T('Go on')
}

function jump(position) {
  stage.painter.touch(replay.seek(position) ?? undefined)
  tellMoment()
  stage.redraw()
}

// run plays on from where it is. A stretch in which nothing happens is left out.
function run() {
  if (replay.over) jump(0)
  play.textContent = T('Pause')
  let before = performance.now(), at = replay.times[replay.position] ?? replay.time
  const step = time => {
    const speed = Number($('[data-speed]', bar).value), next = replay.times[replay.position]
    at += (time - before) * speed
    before = time
    if (next - at > SKIP * speed) at = next
    const to = replay.until(at)
    if (to > replay.position) jump(to)
    if (replay.over) return stop()
    playing = requestAnimationFrame(step)
  }
  playing = requestAnimationFrame(step)
}

async function toggle() {
  if (playing) return stop()
  const begin = shown === live
  await past()
  if (playing) return // it was pressed again meanwhile
  if (begin) jump(0)
  run()
}

function listen() {
  view.addEventListener('tap', tapped)
  stage.canvas.addEventListener('pointermove', hover)
  stage.canvas.addEventListener('pointerleave', () => stage.hush())
  live.addEventListener('change', ({detail: idxs}) => {
    if (shown !== live) return
    stage.painter.touch(idxs)
    stage.redraw()
  })
  $$('[name=colour]').forEach(input => input.addEventListener('change', event => colour(event).catch(failed)))
  if (!bar) return
  play.addEventListener('click', () => toggle().catch(failed))
  scrub.addEventListener('input', () => { stop(); jump(Number(scrub.value)) })
  $('[data-now]', bar).addEventListener('click', now)
  $('[data-colours]').hidden = bar.hidden = false
}

// failed says that the log did not come; a page that is being left needs none.
function failed() {
  moment.textContent = T('The change log could not be loaded. Try again in a moment.')
}

export async function start() {
  if (!frame || !data.geometry) return
  if (data.feed) startLive() // else the page brings the states itself
  house = await stage.load()
  view = stage.view
  listen()
  legend()
  stage.show(new Heat(stage.canvas, house, none, live, numberOf))
}
