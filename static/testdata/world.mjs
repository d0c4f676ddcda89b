// A browser's clocks, timers and network as a test sets them, around the page's own scripts: hours of it take a second.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'

const read = name => readFileSync(new URL(`../js/${name}.js`, import.meta.url), 'utf8')
const module = source => 'data:text/javascript,' + encodeURIComponent(source)
const flush = globalThis.setImmediate

// Part is an element, as far as the scripts of a hold need one. Whatever is looked for in it is there.
class Part extends EventTarget {
  dataset = {}
  parts = new Map()
  children = []
  elements = []
  hidden = false
  open = false
  offsetHeight = 1
  classList = {add() {}, remove() {}, toggle() {}, contains: () => false}
  #text = ''
  get textContent() { return this.#text }
  set textContent(text) { this.onwrite?.(text); this.#text = text }
  get content() { return {firstElementChild: new Part()} }
  querySelector(selector) { return this.parts.get(selector) ?? this.parts.set(selector, new Part()).get(selector) }
  querySelectorAll(selector) { return selector === 'li' ? this.children : [] }
  cloneNode() { return new Part() }
  appendChild(part) { return this.children.push(part), part.remove = () => this.children.splice(this.children.indexOf(part), 1), part }
  append() {}
  insertAdjacentHTML() {}
  replaceChildren() {}
  replaceWith() {}
  setAttribute() {}
  scrollIntoView() {}
  contains() { return false }
  matches() { return false }
  isEqualNode() { return false }
  showModal() { this.open = true; this.onshow?.() }
  close() { this.open = false }
  focus() {}
}

let worlds = 0

// World is one page that holds a seat, its machine, the network and the box office.
export class World {
  real = 0 // ms that have passed really
  slept = 0 // ms by which performance.now() stood still meanwhile
  set = 0 // ms by which the clock of the machine was set
  asleep = false
  due = []
  trips = [] // ms of the pings that were answered, since the page last had a reason to forget them
  constructor({drift = 0, length = 480000, throttled = false, ahead = 3600e3, faults = {}, seed = 5} = {}) {
    Object.assign(this, {drift, length, throttled, ahead, faults, seed})
  }

  dice(n) { return (this.seed = this.seed * 48271 % 0x7fffffff) % n }
  way() { return this.dice(10) ? 5 + this.dice(20) : this.dice(4000) } // ms from here to there
  perf() { return 1000 + (this.real - this.slept) * (1 + this.drift) }
  date() { return 1.8e12 + this.real * (1 + this.drift) + this.set }
  db() { return 1.8e12 + this.ahead + this.real }

  // at lets something happen after so many ms; what a page set itself waits while its machine sleeps.
  at(ms, does, own = false) {
    const event = {when: this.real + ms, does, own}
    this.due.push(event)
    return event
  }
  timer(does, ms, every) {
    const wait = Math.max(1, ms || 0) / (1 + this.drift), whole = this.throttled ? Math.ceil(wait / 1000) * 1000 : wait
    const event = this.at(whole, () => {
      if (every) Object.assign(event, {when: this.real + whole}), this.due.push(event)
      does()
    }, true)
    return event
  }
  stop(event) { this.due = this.due.filter(e => e !== event) }

  // pass lets so many ms go by.
  async pass(ms) {
    const end = this.real + ms
    for (;;) {
      await new Promise(flush)
      let next
      for (const e of this.due) if (e.when <= end && (!next || e.when < next.when)) next = e
      if (!next) break
      this.due.splice(this.due.indexOf(next), 1)
      this.real = Math.max(this.real, next.when)
      next.does()
    }
    this.real = end
  }

  // sleep closes the lid for so many ms. On some machines performance.now() and the timers stand still meanwhile.
  async sleep(ms, stands) {
    this.real += ms
    if (stands) this.slept += ms
    for (const e of this.due) if (e.own && stands) e.when += ms
    this.trips = []
  }

  // machine puts a page's clocks, timers and network in place, and gives what reads its scripts.
  machine() {
    this.body = new Part()
    Object.assign(this.body.dataset, {slug: 'x', holdLength: String(this.length), currency: 'EUR'})
    const document = Object.assign(new Part(), {body: this.body, activeElement: this.body, documentElement: {style: {setProperty() {}}}, createElement: () => new Part(), visibilityState: 'visible'})
    const world = this, kept = new Map(), window = new EventTarget()
    Object.assign(globalThis, {
      document, window: {}, matchMedia: () => ({matches: true}), location: {protocol: 'http:', host: 'x', origin: 'http://x', reload() { throw new Error('loaded anew') }},
      sessionStorage: {getItem: k => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: k => kept.delete(k)},
      addEventListener: window.addEventListener.bind(window), ResizeObserver: class { observe() {} }, FormData: class {}, BroadcastChannel: class { postMessage() {} },
      setTimeout: (f, ms) => world.timer(f, ms), setInterval: (f, ms) => world.timer(f, ms, true), clearTimeout: e => world.stop(e), clearInterval: e => world.stop(e),
      fetch: (url, options) => world.ask(url, options), WebSocket: class extends Socket { constructor(url) { super(world, url) } },
      DOMParser: class { parseFromString(text) { return Object.assign(new Part(), {body: Object.assign(new Part(), {dataset: JSON.parse(text)})}) } },
    })
    Date.now = () => this.date()
    performance.now = () => this.perf()
    const script = (name, more = {}) => {
      let text = read(name)
      for (const [from, to] of this.faults[name] ?? []) {
        assert.ok(text.includes(from), `${name} has no ${from} any more`)
        text = text.replace(from, to)
      }
      for (const [what, at] of Object.entries(more)) text = text.replaceAll(`'usher/${what}'`, JSON.stringify(at))
      return module(text + `// ${worlds}`)
    }
    worlds++
    return script
  }

  // open is the page of an event.
  async open() {
    const script = this.machine(), text = script('text'), page = script('page', {text}), clock = script('clock'), wire = script('wire'), live = script('live', {clock, wire, page, text})
    await this.forgets(clock)
    this.hold = await import(script('hold', {clock, wire, page, live, text, label: script('label', {text})}))
    this.live = await import(live)
    this.tray = document.querySelector('#tray')
    document.parts.set('[data-countdown]', this.tray.querySelector('[data-countdown]')).get('[data-countdown]').dataset.countdown = '%s left'
    this.dialog = document.querySelector('#more-time')
    this.hold.start()
    this.live.start() // it waits for the map
  }

  // checkout is the page of a checkout with the longest possible hold. It took some time to come.
  async checkout() {
    const script = this.machine(), page = script('page', {text: script('text')}), clock = script('clock')
    await this.forgets(clock)
    this.told = this.db() + this.length
    this.held = {deadline: this.told, extensions: 10}
    Object.assign(this.body.dataset, {deadline: String(this.told), now: String(this.db())})
    this.box = document.querySelector('.left')
    document.querySelector('[data-countdown]').dataset.countdown = '%s left'
    this.box.dataset.state = 'held'
    document.querySelector('#held').replaceWith = () => { this.box.dataset.state = 'held' } // by that of the fresh page
    this.real += this.way()
    this.trips.push(this.perf())
    const absent = ['.order'], {querySelector} = document
    document.querySelector = selector => absent.includes(selector) ? null : querySelector.call(document, selector)
    const counts = script('counts', {page}), payment = module(`export const start = () => {} // ${worlds}`)
    await import(script('buy', {checkout: script('checkout', {clock, counts, page}), clock, page, payment}))
  }

  // forgets notes when a page forgets how long answers took.
  async forgets(at) {
    const {clock} = await import(at), {anew} = clock
    clock.anew = () => { this.trips = []; anew.call(clock) }
  }

  // ask is a request to the box office.
  ask(url, options = {}) {
    const sent = this.real
    return new Promise(done => this.at(this.way(), () => {
      const answer = this.answer(url, options.method ?? 'GET')
      this.at(this.way(), () => {
        if (answer.hold) this.told = answer.hold.deadline
        if (this.box) this.trips.push(this.real - sent)
        done(answer)
      })
    }))
  }
  answer(url, method) {
    if (url.endsWith('/checkout')) {
      const page = JSON.stringify({deadline: String(this.held.deadline), now: String(this.db()), extensions: '10'})
      return {ok: true, status: 200, url, text: async () => `</head>${page}`}
    }
    if (url.includes('map.bin')) return {ok: true, status: 200, headers: new Map([['Usher-Now', String(this.db())]]), arrayBuffer: async () => map}
    const h = this.held, alive = h && this.db() <= h.deadline
    if (method === 'POST' && url.endsWith('/extension')) {
      if (!alive || !h.extensions) return refusal
      this.held = {deadline: this.db() + this.length, extensions: h.extensions - 1}
    } else if (method === 'POST') this.held = {deadline: this.db() + this.length, extensions: 10}
    if (!this.held) return refusal
    const hold = {...this.held, lapsed: this.db() > this.held.deadline}
    const body = {idx: [3], seats: ['Floor/1/1'], expires_at: new Date(hold.deadline).toISOString(), now: new Date(this.db()).toISOString(), extensions_left: hold.extensions, lapsed: hold.lapsed, total: 0}
    return {ok: true, status: 200, hold, json: async () => method === 'GET' || body ? {hold: body} : {}}
  }
}

const refusal = {ok: false, status: 404, json: async () => ({error: {code: 'no_hold', message: 'Nothing is held.'}})}
const map = Uint8Array.from([2, 7, 0, 0, 0, 1, 5, 1, 5, 0, 0, 0, 0, 0]).buffer

// Socket is the live map of a box office in which nothing happens; it tells the time.
class Socket {
  readyState = 0
  constructor(world, url) {
    this.world = world
    world.at(world.way(), () => {
      if (url.includes('as=json')) return this.onmessage({data: JSON.stringify({type: 'counts', counts: [{free: 100}]})})
      const hello = new DataView(new ArrayBuffer(17))
      hello.setUint8(0, 1)
      hello.setUint32(1, 7, true)
      hello.setUint8(5, 1)
      hello.setFloat64(6, world.db(), true)
      hello.setUint8(14, 100)
      hello.setUint8(15, 1)
      world.at(world.way(), () => { this.readyState = 1; this.hear(hello.buffer) })
    })
  }
  hear(data) { if (this.readyState === 1) this.onmessage({data}) }
  send(message) {
    const asked = new DataView(message), {world} = this
    if (asked.getUint8(0) !== 6) return
    const sent = world.real
    world.at(world.way(), () => {
      const pong = new DataView(new ArrayBuffer(21))
      pong.setUint8(0, 7)
      pong.setUint32(1, 7, true)
      pong.setFloat64(5, asked.getFloat64(5, true), true)
      pong.setFloat64(13, world.db(), true)
      world.at(world.way(), () => {
        if (this.readyState === 1) world.trips.push(world.real - sent)
        this.hear(pong.buffer)
      })
    })
  }
  close() { this.readyState = 3 }
}
