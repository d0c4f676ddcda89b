// The till: tickets are sold by keyboard and touch. Each button with data-key is pressed by its key. What the cart costs is the
// server's word, and nothing is held: a seat that another person takes meanwhile leaves the cart, and the rest stays.

import {labelOf, numberOf, words} from 'usher/geometry'
import {live, start as startLive} from 'usher/live'
import {$, $$, data, key as newKey, money, number} from 'usher/page'
import {Painter} from 'usher/paint'
import {Stage} from 'usher/stage'
import {N, T} from 'usher/text'

const FREE = 0, BLOCKED = 3, TOUCH = 10 // states of seats; px between two seats that can be picked
const fares = JSON.parse(data.fares), categories = JSON.parse(data.categories)
const digits = Number(data.decimals ?? 2), unit = 10 ** digits
const steps = digits ? [1, 5, 10, 20, 50, 100, 200] : [100, 500, 1000, 2000, 5000, 10000]
const pay = $('[data-pay]'), list = $('[data-lines]'), refused = $('[data-refused]'), sell = $('[data-sell]')

// cart is what is about to be sold: a label, its ticket type and its price, by idx. The painter shows its seats as those of the visitor.
const cart = new Map()
let stage, house, type = fares[0]?.key, category = '', latest = [], marked = -1
let quoted = {total: 0, discount: 0}, method = {method: 'cash', name: ''}, given, key = newKey(), last, byLabel

// turn is what is under way: each press waits for the one before, so that quick hands overtake no answer.
let turn = Promise.resolve()
const inTurn = what => turn = turn.then(what).catch(failed)

function failed() {
  sell?.removeAttribute('aria-busy')
  refuse(T('There was no answer. Press again: nothing is sold twice.'))
}

function refuse(text) {
  refused.textContent = text
  refused.hidden = !text
}

// ask sends something to the server, and says why it was refused.
async function ask(path, body) {
  const answer = await fetch(`${data.desk}/${path}`, body ? {
    method: 'POST', headers: {Accept: 'application/json', 'Content-Type': 'application/json'}, body: JSON.stringify(body),
  } : {headers: {Accept: 'application/json'}})
  const said = await answer.json()
  if (answer.ok) return said
  refuse(said.error.message)
  for (const label of said.error.code === 'taken' ? said.error.seats ?? [] : []) cart.delete(byLabel.get(label))
  if (said.error.code !== 'unavailable') key = newKey()
  return undefined
}

const fareOf = (idx, wish) => (fares.find(f => f.key === wish && f.prices[house.category[idx]] >= 0) ?? fares.find(f => f.prices[house.category[idx]] >= 0))?.key

// put adds seats, as one group that a key of a ticket type changes.
function put(idxs) {
  const fresh = idxs.filter(idx => !cart.has(idx))
  for (const idx of fresh) cart.set(idx, {label: nameOf(idx), type: fareOf(idx, type)})
  if (fresh.length) latest = fresh
  marked = -1
  key = newKey()
}

function nameOf(idx) {
  const s = house.sections[house.section[idx]]
  return s.area ? `${s.name}/${idx - s.first + 1}` : labelOf(house, idx)
}

// quote asks what the cart costs, and draws it.
async function quote() {
  let said = cart.size ? await ask('sales', {...order(), update: true}) : undefined
  if (!said && cart.size) { // perhaps for its code
    said = await ask('sales', {...order(), code: '', update: true})
    if (said && pay) pay.elements.code.value = ''
  }
  if (said) {
    quoted = said
    for (const t of said.tickets) Object.assign(cart.get(byLabel.get(t.seat)) ?? {}, {type: t.type, price: t.price})
  }
  if (!cart.size) quoted = {total: 0, discount: 0}
  given = undefined
  draw()
}

// order is the cart as a form of the server.
function order() {
  const form = {seat: [...cart.values()].map(l => l.label), method: method.method, code: pay?.elements.code.value ?? ''}
  for (const l of cart.values()) form[`type.${l.label}`] = l.type
  return form
}

function draw() {
  list.replaceChildren(...[...cart].map(([idx, line], i) => drawLine(idx, line, i)))
  $('[data-count]').textContent = cart.size ? N('%d ticket', '%d tickets', cart.size) : T('No tickets yet')
  $('[data-clear]').hidden = !cart.size
  stage.again()
  sessionStorage.setItem(`till ${data.slug}`, JSON.stringify([...cart].map(([idx, l]) => [idx, l.type])))
  if (!pay) return
  $('[data-total]').textContent = money(quoted.total)
  $('[data-discount]').textContent = quoted.discount ? T('%s off', money(quoted.discount)) : ''
  $('[data-given]').hidden = method.method !== 'cash' || !quoted.total
  drawNotes()
  drawChange()
}

function drawLine(idx, line, i) {
  const row = document.createElement('li'), name = document.createElement('span'), cost = document.createElement('b'), away = document.createElement('button')
  row.classList.toggle('marked', i === marked)
  row.dataset.seat = line.label
  name.textContent = words(line.label)
  const kinds = fares.filter(f => f.prices[house.category[idx]] >= 0)
  const choice = document.createElement('select')
  choice.ariaLabel = T('Ticket type of %s', words(line.label))
  choice.append(...kinds.map(f => new Option(f.name, f.key, false, f.key === line.type)))
  choice.addEventListener('change', () => inTurn(() => setType(choice.value, [idx])))
  cost.textContent = line.price === undefined ? '' : money(line.price)
  away.type = 'button'
  away.className = 'quiet'
  away.textContent = '×'
  away.ariaLabel = T('Remove %s', words(line.label))
  away.addEventListener('click', () => inTurn(() => remove([idx])))
  row.append(name, ...kinds.length > 1 ? [choice] : [], cost, away)
  return row
}

// drawNotes suggests what people give: the sum itself, and the next notes.
function drawNotes() {
  const sums = [...new Set([quoted.total, ...steps.map(s => Math.ceil(quoted.total / (s * unit)) * s * unit)])].sort((a, b) => a - b)
  $$('[data-note]').forEach((button, i) => {
    button.hidden = !(i < sums.length)
    button.value = sums[i]
    button.firstElementChild.textContent = i < sums.length ? money(sums[i]) : ''
    button.ariaPressed = given === sums[i]
  })
}

function drawChange() {
  const short = method.method === 'cash' && given !== undefined && given < quoted.total, title = $('[data-change-title]')
  title.textContent = short ? title.dataset.short : title.dataset.back
  $('[data-change]').textContent = given === undefined ? '' : money(Math.abs(given - quoted.total))
  $('[data-change]').classList.toggle('short', short)
  const printed = $('[data-paper]').value !== ''
  sell.firstElementChild.textContent = !cart.size ? T('Sell') : printed ? N('Sell and print %d ticket', 'Sell and print %d tickets', cart.size) : N('Sell %d ticket', 'Sell %d tickets', cart.size)
  sell.disabled = !cart.size || short
}

// typedSum reads what was typed, such as 120 or 120,50; undefined if it is no sum.
function typedSum(text) {
  const sum = Number(text.trim().replace(',', '.'))
  return text.trim() && sum >= 0 ? Math.round(sum * unit) : undefined
}

async function best(n) {
  refuse('')
  const q = new URLSearchParams({n, type})
  if (category) q.set('category', category)
  for (const l of cart.values()) q.append('not', l.label)
  const found = await ask(`till/best?${q}`)
  if (!found) return
  put(found.seats.map(label => byLabel.get(label)))
  await quote()
}

async function setType(wish, idxs) {
  for (const idx of idxs) if (cart.has(idx)) cart.get(idx).type = fareOf(idx, wish)
  key = newKey()
  await quote()
}

async function remove(idxs) {
  for (const idx of idxs) cart.delete(idx)
  marked = Math.min(marked, cart.size - 1)
  key = newKey()
  refuse('')
  await quote()
}

async function chooseType(wish) {
  type = wish
  $$('button[data-type]').forEach(b => { b.ariaPressed = b.dataset.type === wish })
  if (cart.size) await setType(wish, marked >= 0 ? [[...cart.keys()][marked]] : latest)
}

async function chooseMethod(button) {
  method = {method: button.dataset.method, name: button.dataset.name ?? ''}
  $$('[data-method]').forEach(b => { b.ariaPressed = b === button })
  key = newKey()
  await quote()
  if (method.method === 'cash' && cart.size) pay.elements.given.focus()
}

// typeSeats adds seats by their names: M18 if one row is called so, or as the page Seats takes them.
async function typeSeats(field) {
  const text = field.value.trim(), short = text.match(/^(.*?)\s*(\d+)$/)
  field.value = ''
  field.blur()
  if (!text) return
  refuse('')
  const found = []
  for (let idx = 0; short && idx < house.n; idx++) {
    const s = house.sections[house.section[idx]]
    if (!s.area && house.rows[house.row[idx]].name.toLowerCase() === short[1].toLowerCase() && numberOf(house, idx) === short[2]) found.push(idx)
  }
  if (found.length === 1) {
    if (taken(found[0])) return refuse(T('%s is held or sold.', words(nameOf(found[0]))))
    put(found)
    return quote()
  }
  const said = await ask('sales', {seats: text, method: 'cash', update: true})
  if (!said) return
  const idxs = said.tickets.map(t => byLabel.get(t.seat)), gone = idxs.filter(taken)
  if (gone.length) refuse(T('%s is held or sold.', gone.map(idx => words(nameOf(idx))).join(', ')))
  put(idxs.filter(idx => !taken(idx)))
  await quote()
}

const taken = idx => live.states && live.states[idx] !== FREE && live.states[idx] !== BLOCKED

// sellCart sells what is in the cart. A repeat with the same key is the same sale.
async function sellCart() {
  if (!cart.size || sell.disabled || !pay) return
  sell.ariaBusy = 'true'
  refuse('')
  const sold = await ask('sales', {...order(), key, total: quoted.total, paid_by: method.name, name: '', email: ''})
  sell.removeAttribute('aria-busy')
  if (!sold) return quote()
  const cash = method.method === 'cash' ? quoted.total : 0
  count('taken', 'shiftSum', quoted.total)
  count('drawer', 'drawerSum', cash)
  showLast(sold.order, given === undefined ? 0 : given - quoted.total)
  cart.clear()
  latest = []
  key = newKey()
  pay.elements.code.value = pay.elements.given.value = ''
  await chooseMethod($('[data-method=cash]'))
  document.activeElement?.blur()
  print()
}

// count adds to a figure of the session.
function count(at, of, more) {
  if (data[of] === undefined) return
  data[of] = Number(data[of]) + more
  $(`[data-${at}]`).textContent = data[of] < 0 ? `−${money(-data[of])}` : money(Number(data[of]))
}

function showLast(o, back) {
  last = o.code
  $('[data-last]').hidden = false
  const link = $('[data-order]')
  link.href = $('[data-key=F4]') ? `${data.desk}/orders/${o.code}` : `/orders/${o.code}`
  link.textContent = back > 0 ? T('Last sale: %s, change %s', money(o.total), money(back)) : T('Last sale: %s', money(o.total))
}

// print has the browser print the tickets of the last sale, while the next one may begin.
async function print() {
  const paper = $('[data-paper]').value, place = $('#paper')
  if (!paper || !last) return
  const page = await fetch(`${data.desk}/till/tickets/${last}?paper=${paper}`, {headers: {Accept: 'text/html'}}).then(answer => answer.text()).catch(() => '')
  const tickets = new DOMParser().parseFromString(page.split('</head>').at(-1), 'text/html').querySelector('.papers')
  if (!tickets) return refuse(T('The tickets could not be loaded. The sale is done: print them again with F6.'))
  place.replaceChildren(tickets)
  window.print()
}

// act is what a button does.
function act(button) {
  const {dataset} = button
  if (dataset.best) return best(dataset.best)
  if (dataset.type) return chooseType(dataset.type)
  if (dataset.method) return chooseMethod(button)
  if (dataset.category !== undefined) return choosePrice(button)
  if (dataset.note !== undefined) return give(Number(button.value))
  if (dataset.clear !== undefined) return remove([...cart.keys()])
  if (dataset.reprint !== undefined) return print()
  return undefined
}

function pressed(event) {
  const button = event.target.closest('button')
  if (!button || button.type === 'submit') return
  inTurn(() => act(button))
  if (event.detail) button.blur() // the next Enter sells
}

function choosePrice(button) {
  category = category === button.dataset.category ? '' : button.dataset.category
  $$('button[data-category]').forEach(b => { b.ariaPressed = b.dataset.category === category })
}

function give(sum) {
  given = sum
  pay.elements.given.value = sum === undefined ? '' : digits ? (sum / unit).toFixed(digits) : `${sum}`
  drawNotes()
  drawChange()
}

// keydown presses the button of a key, unless the person is typing.
function keydown(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
  const {target} = event, name = event.key.length === 1 && /[a-z0-9./]/i.test(event.key) ? event.key.toUpperCase() : event.code.startsWith('Key') ? event.code.slice(3) : event.key
  const writes = target.matches('input, select, textarea')
  if (name === 'Enter' && (target === document.body || target.name === 'given')) {
    event.preventDefault()
    if (!event.repeat) inTurn(sellCart)
    return
  }
  if (name === 'Escape' && writes) return target.blur()
  if (writes && name.length === 1 || writes && /^(Arrow|Delete|Backspace)/.test(name)) return
  if (/^Arrow(Up|Down)$/.test(name) && cart.size) {
    marked = (marked + (name === 'ArrowUp' ? cart.size - (marked < 0 ? 0 : 1) : 1)) % cart.size
    event.preventDefault()
    return draw()
  }
  if ((name === 'Delete' || name === 'Backspace') && cart.size) return inTurn(() => remove([[...cart.keys()].at(marked < 0 ? -1 : marked)]))
  const button = $(`[data-key="${CSS.escape(name)}"]`)
  if (!button) return
  event.preventDefault()
  if (event.repeat) return
  if (button.matches('input, select')) return button.focus()
  if (button.matches('a')) return button.click()
  inTurn(() => button.offsetParent ? act(button) : undefined)
}

function tapped({detail: {x, y, touch}}) {
  const idx = stage.seatAt(x, y, touch ? 2 * TOUCH : TOUCH), at = stage.sectionAt(x, y)
  if (idx >= 0) return inTurn(() => toggle(idx))
  if (at < 0) return
  const s = house.sections[at]
  if (!s.area) return stage.view.show(s)
  for (let place = s.first; place < s.first + s.count; place++) if (!taken(place) && !cart.has(place)) return inTurn(() => toggle(place))
}

function toggle(idx) {
  refuse('')
  if (cart.has(idx)) return remove([idx])
  if (taken(idx)) return refuse(T('%s is held or sold.', words(nameOf(idx))))
  put([idx])
  return quote()
}

function hover(event) {
  const {x, y} = stage.view.at(event), idx = stage.seatAt(x, y, TOUCH)
  if (event.pointerType !== 'mouse' || event.buttons || idx < 0) return stage.hush()
  const cost = fares.find(f => f.key === fareOf(idx, type))?.prices[house.category[idx]]
  stage.tell(x, y, words(nameOf(idx)), cost === undefined ? '' : money(cost))
}

// changed drops seats of the cart that another person has now.
function changed({detail: idxs}) {
  stage.painter.touch(idxs)
  stage.redraw()
  $('[data-available]').textContent = T('%s available', number(live.counts.reduce((sum, c) => sum + c.free, 0)))
  inTurn(async () => {
    const gone = [...cart.keys()].filter(taken)
    if (!gone.length) return
    const text = T('%s was just taken. Your other tickets are still in the cart.', gone.map(idx => words(nameOf(idx))).join(', '))
    await remove(gone)
    refuse(text)
  })
}

async function start() {
  startLive()
  stage = new Stage($('#map'))
  house = await stage.load()
  byLabel = new Map(Array.from({length: house.n}, (_, idx) => [nameOf(idx), idx]))
  const mine = {has: idx => cart.has(idx), ghost: () => false, seats: cart, asked: new Map()}
  stage.show(new Painter(stage.canvas, house, mine, live, numberOf))
  stage.view.addEventListener('tap', tapped)
  stage.canvas.addEventListener('pointermove', hover)
  stage.canvas.addEventListener('pointerleave', () => stage.hush())
  live.addEventListener('change', changed)
  document.addEventListener('click', pressed)
  document.addEventListener('keydown', keydown)
  $('[data-typed]').addEventListener('submit', event => {
    event.preventDefault()
    inTurn(() => typeSeats(event.target.elements.seats))
  })
  $('[data-show]')?.addEventListener('change', event => { location.href = event.target.value })
  const paper = $('[data-paper]')
  paper.value = localStorage.getItem('usher paper') ?? '80'
  paper.addEventListener('change', () => {
    localStorage.setItem('usher paper', paper.value)
    paper.blur()
    draw()
  })
  if (pay) {
    pay.addEventListener('submit', event => {
      event.preventDefault()
      if (document.activeElement === pay.elements.code) pay.elements.code.blur() // a code is looked at first
      else inTurn(sellCart)
    })
    pay.elements.code.addEventListener('change', () => { key = newKey(); refuse(''); inTurn(quote) })
    pay.elements.given.addEventListener('input', event => { given = typedSum(event.target.value); drawNotes(); drawChange() })
  }
  const before = JSON.parse(sessionStorage.getItem(`till ${data.slug}`) ?? '[]')
  for (const [idx, kind] of before) if (idx < house.n) cart.set(idx, {label: nameOf(idx), type: fareOf(idx, kind)})
  await quote()
  document.body.dataset.till = 'ready'
}

start().catch(() => refuse(T('The plan could not be loaded. Load the page again.')))
