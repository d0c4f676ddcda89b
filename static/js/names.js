// What is written on the map: the name of each section inside of it, with what it costs and what is left, and the letters of
// rows. It comes after the first picture of the seats.

import {inside} from 'usher/geometry'
import {along} from 'usher/sheet'
import {T} from 'usher/text'

const LETTERS = 14 // px between two seats from which rows have letters
const SEATS = 11, CLOSE = 16 // … from which names stand beside seats if they can, and from which only there
const GRID = 9, TRIES = 30, FEW = 9 // places a side where a name may stand; how many of them are tried inside its section, and else
const SLICE = 5 // ms of a frame to place names in
const APART = 16 // px between two letters: of those that would touch, the first stands
const EDGE = 15 // px from the edge of the map to the letters of rows that go on beyond it

const $$ = (selector, root = document) => [...root.querySelectorAll(selector)]

export function start(stage) {
  const {house, view, drawing, painter} = stage
  const over = Object.assign(document.createElement('div'), {className: 'names', ariaHidden: 'true'})
  stage.canvas.after(over)
  const facts = factsOf(house), rows = rowsOf(house), spots = [], near = [] // by section, once they are needed
  let puts = [] // by section: where its name stands
  const marked = $$('.shape:not(.open), .word', drawing).map(shape => shape.getBBox()).map(b => ({left: b.x, right: b.x + b.width, top: b.y, bottom: b.y + b.height}))
  const pen = document.createElement('canvas').getContext('2d'), spans = []
  const widths = new Map()
  let at, inks, pointed = -1, later, turn = 0, stood, written // the place of the map, and its letters

  // lay writes the names where the map came to rest, some at a time: a large house has more than a frame can take.
  async function lay() {
    const mine = ++turn
    at = {...view}
    over.hidden = true // until all have their places
    over.style.transform = ''
    const css = getComputedStyle(document.documentElement)
    inks = Object.fromEntries(['text', 'panel', 'line'].map(name => [name, css.getPropertyValue(`--${name}`).trim()]))
    const text = parseFloat(css.fontSize), taken = [...marked]
    puts = []
    let began = performance.now()
    for (const [i, s] of house.sections.entries()) {
      if (performance.now() - began > SLICE) {
        await new Promise(done => setTimeout(done))
        if (mine !== turn) return
        began = performance.now()
      }
      puts[i] = house.here(s) && seen(s, at) && place(i, layouts(i, text), taken)
      if (puts[i]) taken.push(puts[i].box)
    }
    even(text)
    for (const i of house.sections.keys()) show(i, puts[i])
    over.hidden = false
  }

  // even lets sections of one size say the same on a map that is too small to pick seats: what the one with the least room
  // says, and nothing if most have no room.
  function even(text) {
    const alike = new Map()
    for (const [i, s] of house.sections.entries()) {
      if (house.here(s) && s.pitch * at.scale < SEATS && within(s, at)) alike.set(s.count, [...alike.get(s.count) ?? [], i])
    }
    for (const all of alike.values()) {
      const least = Math.min(...all.map(i => puts[i]?.rank ?? Infinity)), few = all.filter(i => puts[i]).length * 2 < all.length
      for (const i of all) {
        const {x, y} = puts[i] ?? {}
        puts[i] &&= few ? undefined : {...layouts(i, text).find(way => way.rank === least), x, y, box: puts[i].box}
      }
    }
  }

  // fitsLess takes the place of the map if it lost height only, and every name still has its place.
  function fitsLess() {
    if (over.hidden || view.room > at.room || !puts.every(put => !put || within(put.box, view))) return false
    at = {...view}
    return true
  }

  function width(words, size, bold = '') {
    const font = `${bold} ${size}px Instrument, sans-serif`, key = font + words
    if (!widths.has(key)) {
      pen.font = font
      widths.set(key, pen.measureText(words).width)
    }
    return widths.get(key)
  }

  // layouts are the ways to write a name, what says most first.
  function layouts(i, text) {
    const {name} = house.sections[i], [price, left] = facts(i), ways = [], head = width(name, .8125 * text, 600)
    for (const line of new Set([[price, left].filter(Boolean).join(' · '), price])) {
      if (line) ways.push({line, says: line === price ? 1 : 2, rank: line === price ? 2 : 3, w: Math.max(head, width(line, .75 * text)) + text, h: text * 2.4})
    }
    return [...ways, {line: '', rank: 1, w: head + text * 1.1, h: text * 1.4}, {line: '', rank: 0, small: true, w: head * .8 + 2, h: text * .8}]
  }

  // place finds where a name fits: inside its section and on no seat that can be picked, else inside, else where it lies on
  // no other section.
  function place(i, ways, taken) {
    spots[i] ??= spotsOf(house.sections[i])
    const s = house.sections[i], k = at.scale, pick = s.pitch * k >= SEATS
    for (const strict of s.pitch * k >= CLOSE ? [2] : pick ? [2, 1, 0] : [1, 0]) {
      for (const way of ways) {
        const w = way.w / k, h = way.h / k
        if (strict && (w > s.right - s.left || h > s.bottom - s.top)) continue
        for (const [x, y] of spots[i].slice(0, strict ? TRIES : FEW)) {
          const box = {left: x - w / 2, right: x + w / 2, top: y - h / 2, bottom: y + h / 2}
          if (within(box, at) && !taken.some(o => meet(o, box)) && fits(i, box, strict)) return {...way, x, y, box}
        }
      }
    }
  }

  function fits(i, box, strict) {
    const s = house.sections[i], edge = around(box)
    if (strict && !edge.every(p => inside(s.outline, ...p))) return false
    near[i] ??= house.sections.filter((o, at) => at !== i && meet(grown(s), grown(o)))
    if (!strict && near[i].some(o => meet(o, box) && edge.some(p => inside(o.outline, ...p)))) return false
    if (strict < 2) return true
    const room = s.pitch * .4
    for (let idx = s.first; idx < s.first + s.count; idx++) {
      if (house.x[idx] > box.left - room && house.x[idx] < box.right + room && house.y[idx] > box.top - room && house.y[idx] < box.bottom + room) return false
    }
    return true
  }

  function show(i, put) {
    if (put) spans[i] ||= over.appendChild(document.createElement('span'))
    const span = spans[i]
    if (!span) return
    span.hidden = !put
    if (!put) return
    span.replaceChildren(house.sections[i].name)
    if (put.line) span.appendChild(document.createElement('small')).textContent = put.line
    span.className = put.small ? 'small' : ''
    span.dataset.section = i
    span.says = put.says
    span.style.translate = `${(put.x - at.x) * at.scale}px ${(put.y - at.y) * at.scale}px`
  }

  // count writes what is left anew.
  function count() {
    later = undefined
    spans.forEach((span, i) => { if (span?.says && !span.hidden) span.lastChild.textContent = facts(i).slice(0, span.says).join(' · ') })
  }

  // point lets the name of a section go while a pointer is on it: there may be seats below.
  stage.point = section => {
    if (section === pointed) return
    spans[pointed]?.classList.remove('gone')
    pointed = section
    spans[section]?.classList.add('gone')
  }

  stage.addEventListener('draw', () => {
    if (!at || !view.moving && (at.x !== view.x || at.y !== view.y || at.scale !== view.scale || at.width !== view.width || at.room !== view.room && !fitsLess())) lay()
    else over.style.transform = along(at, view)
    letters(painter.above)
  })
  painter.live?.addEventListener?.('change', () => { later ??= setTimeout(count, 500) })
  stage.addEventListener('recolour', lay)
  document.fonts?.ready.then(lay)

  // letters writes the letters of rows. Where they stand is found once for each place of the map.
  function letters(g) {
    const place = [view.x, view.y, view.scale, view.width, view.room].join()
    if (place !== stood) [stood, written] = [place, standing()]
    if (!written.length) return
    painter.marked = true
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    g.textAlign = 'center'
    g.textBaseline = 'middle'
    for (const {name, font, x, y, raised} of written) {
      if (raised) {
        g.fillStyle = inks.panel
        g.strokeStyle = inks.line
        g.lineWidth = 1
        g.beginPath()
        g.arc(x, y, 12, 0, 7)
        g.fill()
        g.stroke()
      }
      g.font = font
      g.fillStyle = inks.text
      g.fillText(name, x, y + .5)
    }
  }

  function standing() {
    const list = []
    for (const [i, s] of house.sections.entries()) {
      const gap = s.pitch * view.scale
      if (!house.here(s) || gap < LETTERS || !seen(s, view)) continue
      for (const row of rows[i]) {
        if (!seen(row, view)) continue
        const font = `600 ${Math.min(14, Math.max(10, gap * .5)) * (row.name.length > 2 ? .75 : 1)}px Instrument, sans-serif`
        for (const [x, y, raised] of ends(row, gap)) {
          if (!list.some(o => Math.hypot(o.x - x, o.y - y) < APART)) list.push({name: row.name, font, x, y, raised})
        }
      }
    }
    return list
  }

  // ends are where the letters of a row stand: beyond its last seats, or at the edge of the map where it goes on; in the
  // middle of a table.
  function ends({first, last}, gap) {
    const seat = idx => stage.place(idx), a = seat(first), z = seat(last)
    if (last - first > 1 && Math.hypot(a[0] - z[0], a[1] - z[1]) < gap * 2) { // a table
      let x = 0, y = 0
      for (let idx = first; idx <= last; idx++) [x, y] = [x + seat(idx)[0], y + seat(idx)[1]]
      return [[x / (last - first + 1), y / (last - first + 1)]]
    }
    return [[first, 1], [last, -1]].flatMap(([end, step]) => {
      const on = end === first ? last : first
      let idx = end
      while (idx !== on && !here(seat(idx))) idx += step
      if (!here(seat(idx))) return []
      const [x, y] = seat(idx), [bx, by] = idx !== end ? seat(idx - step) : first === last ? [x - step, y] : [2 * x - seat(idx + step)[0], 2 * y - seat(idx + step)[1]]
      const length = Math.hypot(bx - x, by - y) || 1, far = idx === end ? gap * .95 : gap
      const to = [x + (bx - x) / length * far, y + (by - y) / length * far], kept = [[view.width, 0], [view.room, 1]].map(([size, i]) => Math.min(Math.max(to[i], EDGE), size - EDGE))
      return [[...kept, `${kept}` !== `${to}` || idx !== end]]
    })
  }

  const here = ([x, y]) => x > 0 && y > 0 && x < view.width && y < view.room

  stage.again()
}

// factsOf says of a section what it costs and what is left of it, as the page's lists do.
function factsOf(house) {
  const places = []
  for (const link of $$('.sections a')) places[link.pathname.split('/').at(-1)] = link.querySelectorAll('span > span')
  for (const area of $$('.places[data-first]')) places[house.sections.findIndex(s => s.first === +area.dataset.first)] = area.querySelectorAll('[data-fare^=area], [data-free]')
  return i => places[i] ? [places[i][0]?.textContent, T('%d available', places[i][1]?.textContent)] : []
}

// spotsOf are places inside a section, those near its middle first.
function spotsOf({outline, left, right, top, bottom}) {
  const spots = []
  for (let i = 0; i < GRID; i++) {
    for (let j = 0; j < GRID; j++) {
      const p = [left + (right - left) * (i + .5) / GRID, top + (bottom - top) * (j + .5) / GRID]
      if (inside(outline, ...p)) spots.push(p)
    }
  }
  const middle = [0, 1].map(i => spots.reduce((sum, p) => sum + p[i], 0) / spots.length), far = p => Math.hypot(p[0] - middle[0], p[1] - middle[1])
  return spots.sort((a, b) => far(a) - far(b))
}

// rowsOf are the rows of each section that have a letter.
function rowsOf(house) {
  const rows = house.sections.map(() => [])
  house.rows.forEach(({name, first}, i) => {
    const at = house.section[first], last = (house.rows[i + 1]?.first ?? house.n) - 1, s = house.sections[at]
    if (name.length < 4) rows[at].push({name, first, last: Math.min(last, s.first + s.count - 1), ...extent(house, first, last)})
  })
  return rows
}

// extent is the box around the seats from first to last.
function extent({x, y}, first, last) {
  const box = {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity}
  for (let idx = first; idx <= last; idx++) {
    Object.assign(box, {left: Math.min(box.left, x[idx]), right: Math.max(box.right, x[idx]), top: Math.min(box.top, y[idx]), bottom: Math.max(box.bottom, y[idx])})
  }
  return box
}

const seen = (s, {x, y, scale, width, room}) => (s.right - x) * scale > 0 && (s.left - x) * scale < width && (s.bottom - y) * scale > 0 && (s.top - y) * scale < room
const within = (b, {x, y, scale, width, room}) => b.left > x && b.top > y && b.right < x + width / scale && b.bottom < y + room / scale
const meet = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top
const grown = b => ({left: b.left - (b.right - b.left) / 2, right: b.right + (b.right - b.left) / 2, top: b.top - (b.bottom - b.top) / 2, bottom: b.bottom + (b.bottom - b.top) / 2})
const around = b => [0, .25, .5, .75, 1].flatMap(t => [[b.left + (b.right - b.left) * t, b.top], [b.left + (b.right - b.left) * t, b.bottom]]).concat([[b.left, (b.top + b.bottom) / 2], [b.right, (b.top + b.bottom) / 2]])
