// What every map of a house stands on: its drawing, where it is looked at, the card that says what is pointed at, and when
// it is drawn anew. What is written on it comes later.

import {inside, unpack} from 'usher/geometry'
import {nameFloors} from 'usher/label'
import {$, $$, data} from 'usher/page'
import {along} from 'usher/sheet'
import {View} from 'usher/view'

const SEAT = 56 // px between two seats where the map is closest

const LEFT = 2000 // ms after which a page that is being left is not there any more

// loaded is JSON for this page. For a page that is being left, browsers break off what they load: only a page that stays says so.
async function loaded(address) {
  let leaving = false
  const leave = () => { leaving = true }
  addEventListener('beforeunload', leave)
  try {
    const answer = await fetch(address)
    if (!answer.ok) throw answer
    return await answer.json()
  } catch (error) {
    if (leaving) await new Promise(resolve => setTimeout(resolve, LEFT))
    throw error
  } finally {
    removeEventListener('beforeunload', leave)
  }
}

// Stage sends "move" when the view moved, and "draw" with detail = the time of a frame, after the seats were drawn; who
// sets more then has another frame.
export class Stage extends EventTarget {
  more = false
  #due
  #spot // where the card is
  #at // the view that the drawing shows, before it is moved along
  constructor(frame) {
    super()
    Object.assign(this, {frame, canvas: $('canvas', frame), drawing: $('svg', frame), card: $('.card', frame)})
  }

  // load fetches the house.
  async load() {
    const drawing = await loaded(data.geometry), house = this.house = unpack(drawing), [x, y, w, h] = this.drawing.getAttribute('viewBox').split(' ').map(Number)
    nameFloors(drawing)
    const view = this.view = new View(this.frame, this.canvas, {x, y, w, h}), floor = $('.floors [aria-current]', this.frame)?.dataset.floor
    if (floor) this.#floors(Number(floor))
    view.most = Math.max(SEAT / Math.min(...house.sections.map(s => s.pitch).filter(Boolean)), view.least * 2)
    return house
  }

  // #floors begins on a floor. The switch changes the address, and the way back leads to the floor before.
  #floors(floor) {
    this.house.floor = floor
    history.replaceState({...history.state, ...this.state()}, '')
    for (const link of $$('.floors a', this.frame)) {
      link.addEventListener('click', event => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        const to = Number(link.dataset.floor)
        if (to !== this.house.floor) history.pushState(history.state, '')
        this.climb(to)
      })
    }
    addEventListener('popstate', ({state}) => {
      if (state?.floor !== undefined && state.section === this.frame.dataset.section) this.climb(state.floor)
    })
  }

  // state is what an entry of the history says of the map.
  state() { return {floor: this.house.floor, section: this.frame.dataset.section} }

  // show has a painter draw the house from now on.
  show(painter) {
    this.painter = painter
    this.view.addEventListener('move', () => this.#moved())
    document.addEventListener('keydown', event => { if (event.key === 'Escape') this.hush() })
    document.addEventListener('visibilitychange', () => this.redraw())
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
      matchMedia(query).addEventListener('change', () => {
        painter.recolour()
        this.dispatchEvent(new Event('recolour'))
        this.redraw()
      })
    }
    this.#moved()
    this.#draw(performance.now()) // and not in the next frame, which has enough to do
    document.fonts?.ready.then(() => this.again())
    this.frame.classList.add('live')
    requestAnimationFrame(() => {
      this.canvas.dataset.ready = '1'
      import('usher/overlay').then(overlay => overlay.start(this), () => {}) // the map works without
    })
  }

  redraw() { this.#due ??= requestAnimationFrame(now => this.#draw(now)) }

  // again draws all seats anew.
  again() {
    this.painter.touch()
    this.redraw()
  }

  #draw(now) {
    const {canvas, view} = this
    cancelAnimationFrame(this.#due)
    this.#due = undefined
    if (document.hidden || !canvas.width || !canvas.height) return // it is hidden, or has no size yet
    this.drawing.style.transform = along(this.#at, view)
    this.more = this.painter.draw(view)
    this.dispatchEvent(new CustomEvent('draw', {detail: now}))
    if (this.more) this.redraw()
  }

  #moved() {
    this.hush()
    this.dispatchEvent(new Event('move'))
    if (!this.view.moving) this.#rest()
    this.redraw()
  }

  // #rest draws the sections where the view came to rest.
  #rest() {
    const {view} = this
    this.drawing.setAttribute('viewBox', [view.x, view.y, view.width / view.scale, view.height / view.scale].join(' '))
    this.canvas.classList.toggle('whole', view.whole)
    if (this.#at?.scale !== view.scale) {
      this.painter.touch()
    }
    this.#at = {...view}
  }

  // climb shows another floor, in the box that its link names: its shapes and sections, and seats when they are drawn anew. The
  // address says so, but where another one comes right after.
  climb(floor, told = true) {
    const {house, view, drawing} = this
    if (floor === house.floor || house.floor === undefined) return
    house.floor = floor
    for (const link of $$('.floors a')) {
      const on = Number(link.dataset.floor) === floor
      if (on) {
        const [x, y, w, h] = link.dataset.box.split(' ').map(Number)
        view.bound({x, y, w, h})
      }
      link.ariaCurrent = on || null
    }
    const put = (node, on) => node.setAttribute('visibility', on ? 'visible' : 'hidden')
    for (const shapes of $$('g[data-floor]', drawing)) put(shapes, Number(shapes.dataset.floor) === floor)
    $$('a', drawing).forEach((link, i) => put(link, house.here(house.sections[i])))
    if (told) {
      const at = new URL(location)
      at.searchParams.set('floor', floor + 1)
      history.replaceState({...history.state, ...this.state()}, '', at)
    }
    this.again()
  }

  // place is where a seat is, in px.
  place(idx) { return [(this.house.x[idx] - this.view.x) * this.view.scale, (this.house.y[idx] - this.view.y) * this.view.scale] }

  sectionAt(px, py) {
    const [x, y] = this.view.plan(px, py)
    return this.house.sections.findIndex(s => this.house.here(s) && inside(s.outline, x, y))
  }

  // seatAt is the seat at a point in px, -1 if there is none or seats are less than so many px apart: too small to pick.
  seatAt(px, py, least) {
    const {house, view} = this, [x, y] = view.plan(px, py)
    let found = -1, near = Infinity
    for (const s of house.sections) {
      if (!house.here(s) || s.pitch * view.scale < least || x < s.left - s.pitch || x > s.right + s.pitch || y < s.top - s.pitch || y > s.bottom + s.pitch) continue
      for (let idx = s.first; idx < s.first + s.count; idx++) {
        const d = Math.hypot(house.x[idx] - x, house.y[idx] - y)
        if (d < near && d < s.pitch * .6) [found, near] = [idx, d]
      }
    }
    return found
  }

  // hush takes the card away.
  hush() { if (!this.card.hidden) this.card.hidden = true }

  // tell puts the card near a point, below it, or above it where a finger is or where there is no room.
  tell(x, y, title, text, above) {
    const {card} = this, b = document.createElement('b'), span = document.createElement('span')
    b.textContent = title
    span.textContent = text
    card.replaceChildren(b, span)
    card.hidden = false
    this.#spot = [x, y, above]
    this.put()
  }

  // put places the card again, which may have another size.
  put() {
    const {card, view} = this, [x, y, above] = this.#spot
    const left = Math.min(x + 16, view.width - card.offsetWidth - 8)
    const top = above || y + 20 + card.offsetHeight > view.height ? y - card.offsetHeight - (above ? 32 : 12) : y + 20
    card.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`
  }
}
