// Ticket types, and prices that change while the page is open. Pages load it if their event has several types or phases, or
// once a price changes. What a page shows of prices is the server's word: it is taken from a fresh copy of the page.

const PRICES = 10 // the type of a message: the list, the phase and what is left of it
const DEADLINE = 15000 // ms that an answer may take
const MOST = 60000 // ms over which pages ask again, at most, so that they do not come all at once

const $ = (selector, root = document) => root.querySelector(selector)
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)]
const data = document.body.dataset

let hold, live, post, say, T, number, floored // of the page's script
let spread = 2500, renewing, ending
let asked = 0, shown = 0 // copies asked for, and the last one that the page took
let seen = new Set() // idx of the seats whose prices were looked at

export function start(...handed) {
  if (hold) return // two messages came before this script
  ;[hold, live, post, say, T, number, floored] = handed
  seen = new Set(hold.seats.keys())
  hold.addEventListener('change', held)
  live.other = hear
  live.addEventListener('change', () => { if (data.live === 'polling') later() }) // no socket tells of prices
  document.addEventListener('change', chose)
  document.addEventListener('click', picked)
  document.addEventListener('click', step)
  if (live.told) hear(live.told)
  for (const target of $$('.chips select')) if ($('[selected]', target)?.selected === false) chose({target}) // before this script was there
  held()
  wait()
}

function hear({type, r}) {
  if (type !== PRICES) return
  const list = r.uvarint(), phase = r.uvarint(), left = r.uvarint() - 1, at = $('[data-places]')
  if (at && left >= 0) at.textContent = number(left)
  if (list !== +data.list || phase !== +data.phase) later()
}

// later asks for the prices at a moment of this page's own, each time within a longer while.
function later() {
  renewing ??= setTimeout(() => {
    renewing = undefined
    again()
  }, Math.random() * (spread = Math.min(MOST, spread * 2)))
}

// again asks for the prices that this page shows. A type that was picked and is still asked for comes first.
function again() {
  if (asked === shown) show(location.search)
  else later()
}

// wait asks for the prices once other phases run.
function wait() {
  clearTimeout(ending)
  if (data.until < 2 ** 31) ending = setTimeout(later, data.until)
}

const prices = page => $$('.prices [data-category]', page)

// copy is what the server writes at an address now; undefined without an answer.
async function copy(address, headers) {
  const answer = await fetch(`/events/${data.slug}${address}`, {headers, signal: AbortSignal.timeout(DEADLINE)}).catch(error => error)
  const body = answer.ok && await answer.text().catch(String)
  return body && new DOMParser().parseFromString(body.split('</head>').at(-1), 'text/html') // the styles of another answer are not for this page
}

// show takes what this page says of prices from fresh copies, with the prices of a ticket type and what is looked for.
async function show(search) {
  const mine = ++asked
  const rows = $('#rows fieldset') && $('#rows').dataset.section
  const [page, section] = await Promise.all([copy(`/map${search}`), rows && copy(`/sections/${rows}${search}`, {'Usher-Fragment': 1})])
  if (mine !== asked) return undefined // another type was picked since
  shown = mine
  if (!page || !$('.prices, .places', page)) return later()
  const fares = new Map([page, section].flatMap(copy => copy ? $$('[data-fare]', copy) : []).map(at => [at.dataset.fare, at.textContent]))
  for (const at of $$('[data-fare]')) at.textContent = fares.get(at.dataset.fare) ?? at.textContent
  const fresh = prices(page)
  prices().forEach((li, i) => Object.assign(li.dataset, fresh[i]?.dataset))
  const names = new Map(section && $$('[data-idx]', section).map(box => [box.dataset.idx, box.ariaLabel]))
  for (const box of $$('#rows [data-idx]')) box.ariaLabel = names.get(box.dataset.idx) ?? box.ariaLabel
  for (const part of ['.kinds', '.phase']) $(part)?.replaceWith($(part, page) ?? '')
  Object.assign(data, page.body.dataset)
  for (const field of $$('[name=type]')) field.value = data.type
  const links = $$('.sections a', page)
  $$('.sections a').forEach((link, i) => {
    link.search = search
    if (links[i]) $('span > span', link).textContent = $('span > span', links[i]).textContent
  })
  if (floored(search) !== location.search) history.replaceState(history.state, '', location.pathname + floored(search))
  live.dispatchEvent(new CustomEvent('change', {detail: null})) // the rows and the map add what is theirs
  wait()
  return true
}

async function picked(event) {
  const link = event.target.closest('.kinds a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  if (!await show(link.search)) return
  $('.kinds [aria-current]').focus()
  say(T('Prices for %s.', link.textContent), false)
}

// step makes a number of tickets less or more.
function step({target}) {
  if (!target.dataset.step) return
  const field = $('input', target.parentNode)
  field[target.dataset.step]()
  say(`${field.value} ${$('b', field.closest('.kind')).textContent}`, false)
}

// held gives each seat in the tray a choice of its ticket types, and notes which have another price than this page shows.
function held() {
  const lines = hold.lines ?? [] // the page came with the choices of its hold
  const other = []
  for (const line of lines) {
    const li = $(`.chips [data-idx="${line.idx}"]`)
    if (!li) continue
    choices(li, line)
    const shown = prices().find(at => at.dataset.category === line.category && at.dataset.kind === line.type)
    if (!seen.has(line.idx) && shown && +shown.dataset.price !== line.price) other.push(T('%s costs %s', $('.name', li).textContent, $('.price', li).textContent))
  }
  if (other.length) changed(T('The price changed: %s.', other.join(T(', '))))
  if (hold.lines) seen = new Set(lines.map(line => line.idx))
}

// changed says that seats cost something else than this page showed, and takes the new prices.
function changed(text) {
  const box = $('#message')
  $('p', box).textContent = text
  $('.nearest', box).replaceChildren()
  box.hidden = false
  setTimeout(say, 0, text, false) // after what the claim says
  again()
}

function choices(li, {idx, type, choices: all}) {
  const is = JSON.stringify([type, all])
  let select = $('select', li)
  if (!all || select?.dataset.is === is) return
  if (!select) {
    select = document.createElement('select')
    Object.assign(select, {name: `type.${idx}`, ariaLabel: T('Ticket type of %s', $('.name', li).textContent)})
    $('.price', li).before(select)
  }
  select.replaceChildren(...all.map(c => new Option(`${c.name}, ${c.text}`, c.key, false, c.key === type)))
  select.dataset.is = is
}

// chose gives a held seat another ticket type.
async function chose({target}) {
  if (!target.matches('.chips select')) return
  const before = $('[selected]', target)
  if (await post('types', {[target.name]: target.value})) say(`${target.ariaLabel}: ${target.selectedOptions[0].text}.`)
  else if (target.dataset.is) {
    delete target.dataset.is
    held()
  } else target.value = before.value
}
