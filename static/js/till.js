// The till: tickets are sold by keyboard and touch. Each button with data-key is pressed by its key. What the cart costs is the
// server's word, and nothing is held: a seat that another person takes meanwhile leaves the cart, and the rest stays.
// The cart has tickets of many performances, and is of this tab: the page shows the plan of one of them.

import {AtReader} from 'usher/at_reader'
import {labelOf, numberOf, together} from 'usher/geometry'
import {words} from 'usher/label'
import {live, start as startLive} from 'usher/live'
import {$, $$, data, key as newKey, money, number} from 'usher/page'
import {Painter} from 'usher/paint'
import {underWay} from 'usher/reader'
import {Stage} from 'usher/stage'
import {Shows} from 'usher/shows'
import {N, T} from 'usher/text'

const FREE = 0, BLOCKED = 3, TOUCH = 10 // states of seats; px between two seats that can be picked
const DEADLINE = 30_000 // ms that an answer may take: a claim is refused after 25 s
const WATCH = 10_000 // ms between two looks at seats of other performances
const fares = JSON.parse(data.fares), categories = JSON.parse(data.categories)
const digits = Number(data.decimals ?? 2), unit = 10 ** digits
const steps = digits ? [1, 5, 10, 20, 50, 100, 200] : [100, 500, 1000, 2000, 5000, 10000]
const pay = $('[data-pay]'), list = $('[data-lines]'), refused = $('[data-refused]'), sell = $('[data-sell]')

// cart is what is about to be sold of this performance: a label, its ticket type and its price, by idx. The painter shows its seats as
// those of the visitor. others are those of other performances, by slug: their words, and their lines.
const cart = new Map(), others = new Map(), store = `till ${data.currency}`, storeLast = `${store} last`, storeSent = `${store} sent`, storeCustomer = `${store} customer`
let stage, house, shows, reader, type = fares[0]?.key, category = '', latest = [], marked = -1
let quoted = {total: 0, discount: 0, by: {}, pays: 0, rest: 0}, card, method = {method: 'cash', name: ''}, given, key = newKey(), last, byLabel

// sent is a sale that got no answer. It is sent again as it was, and is the same sale; its seats may look taken meanwhile.
let sent = JSON.parse(sessionStorage.getItem(storeSent) ?? 'null')

function remember(sale) {
  sent = sale
  sessionStorage.setItem(storeSent, JSON.stringify(sale))
}

// changes begins another sale.
function changes() {
  key = newKey()
  remember(null)
}

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

// ask sends something to the server, and says why it was refused. why is the code of the last refusal.
let why
async function ask(path, body, slug = data.slug) {
  const answer = await fetch(`/desk/events/${slug}/${path}`, {
    method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), signal: AbortSignal.timeout(DEADLINE),
    headers: {Accept: 'application/json', ...body && {'Content-Type': 'application/json'}},
  })
  const said = await answer.json()
  if (answer.ok) return said
  const {code, message, event = slug, seats = []} = said.error
  why = code
  const here = code === 'taken' && drop(event, seats)
  refuse(here ? gone(seats) : message)
  if (body && !body.update && answer.status < 500) changes()
  return undefined
}

// size is how many tickets the cart has, of all performances.
const size = () => [...others.values()].reduce((sum, o) => sum + o.lines.length, cart.size)

// lines are all tickets as the list shows them: [slug, line, idx], without an idx in other performances.
const lines = () => [...[...cart].map(([idx, line]) => [data.slug, line, idx]), ...[...others].flatMap(([slug, o]) => o.lines.map(line => [slug, line]))]

// drop takes seats of a performance out of the cart, and reports whether one was in it.
function drop(slug, labels) {
  const before = size(), other = others.get(slug)
  if (slug === data.slug) for (const idx of labels.flatMap(label => soldWith(byLabel.get(label)))) cart.delete(idx)
  if (other) other.lines = other.lines.filter(l => !labels.includes(l.label))
  if (other && !other.lines.length) others.delete(slug)
  return size() < before
}

const gone = labels => T('%s was just taken. Your other tickets are still in the cart.', labels.map(label => words(label)).join(', '))

const fareOf = (idx, wish) => (fares.find(f => f.key === wish && f.prices[house.category[idx]] >= 0) ?? fares.find(f => f.prices[house.category[idx]] >= 0))?.key

// soldWith lists the seats that are sold with a seat.
const soldWith = idx => together(house, idx)

// put adds seats, as one group that a key of a ticket type changes.
function put(idxs) {
  const fresh = [...new Set(idxs.flatMap(soldWith))].filter(idx => !cart.has(idx))
  for (const idx of fresh) cart.set(idx, {label: nameOf(idx), type: fareOf(idx, type)})
  if (fresh.length) {
    latest = fresh
    stage.climb(house.sections[house.section[fresh[0]]].floor ?? 0)
  }
  marked = -1
  changes()
}

function nameOf(idx) {
  const s = house.sections[house.section[idx]]
  return s.area ? `${s.name}/${idx - s.first + 1}` : labelOf(house, idx)
}

// quote asks what the cart costs, takes out what cannot be sold any more, and draws the cart.
async function quote() {
  const before = quoted.rest
  let said = await price()
  const code = asked
  if (!said && size() && code && pay.elements.code.value === code) { // perhaps for its code
    pay.elements.code.value = ''
    said = await price()
    if (!said) pay.elements.code.value ||= code
  }
  if (!said && size() && card && why === 'gift_card') {
    card = undefined
    said = await price()
  }
  const lost = sent ? [] : Object.entries(said ?? {}).flatMap(([slug, q]) => (q.taken ?? []).map(label => [slug, label]))
  if (lost.length) {
    for (const [slug, label] of lost) drop(slug, [label])
    changes()
    said = await price()
    refuse(gone(lost.map(([, label]) => label)))
  }
  if (said || !size()) {
    const pays = said && card?.pays || 0, sums = Object.values(said ?? {}), sum = of => sums.reduce((all, q) => all + q[of], 0)
    quoted = {total: sum('total'), discount: sum('discount'), by: Object.fromEntries(Object.entries(said ?? {}).map(([slug, q]) => [slug, q.total])), pays, rest: sum('total') - pays}
  }
  for (const [slug, {tickets}] of Object.entries(said ?? {})) {
    for (const t of tickets) {
      const line = slug === data.slug ? cart.get(byLabel.get(t.seat)) : others.get(slug)?.lines.find(l => l.label === t.seat)
      Object.assign(line ?? {}, {type: t.type, price: t.price})
    }
  }
  if (quoted.rest !== before || !size()) {
    given = undefined
    if (pay) pay.elements.given.value = ''
  }
  draw()
}

// watch looks for tickets of other performances that another person has now.
async function watch() {
  const said = await price()
  if (said && (Object.values(said).some(q => q.taken) || (card?.pays ?? 0) !== quoted.pays)) await quote()
}

// price asks what the cart costs: what each performance says, by slug.
async function price() {
  if (!size()) return undefined
  const [lead, form] = order()
  const said = await ask('sales', {...form, update: true}, lead)
  if (!said) return undefined
  const {also, gift_card: gift, ...first} = said
  card = gift
  if (gift && form.code && !form.gift_card) pay.elements.code.value = '' // it was typed as a code; a discount code may follow
  return {[lead]: first, ...also}
}

let asked = '' // the code of the last request

// typedCode is the code in the field. While it is being typed there is none: a half of it would be refused.
function typedCode() {
  const field = pay?.elements.code
  asked = field && document.activeElement !== field ? field.value : ''
  return asked
}

// order is the cart as a form of the server, which one performance leads.
function order() {
  const forms = {}
  for (const [slug, l] of lines()) {
    const form = forms[slug] ??= {seat: [], total: quoted.by[slug]}
    form.seat.push(l.label)
    form[`type.${l.label}`] = l.type
  }
  const lead = Object.keys(forms)[0], {[lead]: first, ...also} = forms
  return [lead, {...first, ...Object.keys(also).length ? {also} : {}, method: method.method, ...method.method === 'free' ? {free_reason: pay.elements.free_reason.value.trim()} : {}, code: typedCode(), ...card ? {gift_card: card.code, gift_card_pays: quoted.pays} : {}}]
}

function draw() {
  const all = lines(), groups = []
  let of
  for (const [i, [slug, line, idx]] of all.entries()) {
    if (others.size && slug !== of) groups.push(drawShow(slug))
    of = slug
    groups.push(drawLine(slug, idx, line, i))
  }
  list.replaceChildren(...groups)
  $('[data-count]').textContent = all.length ? N('%d ticket', '%d tickets', all.length) : T('No tickets yet')
  $('[data-clear]').hidden = !all.length
  stage.again()
  keep()
  shows?.inside(Object.fromEntries([[data.slug, cart.size], ...[...others].map(([slug, o]) => [slug, o.lines.length])]))
  if (!pay) return
  $('[data-total]').textContent = money(quoted.total)
  $('[data-discount]').textContent = quoted.discount ? T('%s off', money(quoted.discount)) : ''
  $('[data-why]').hidden = method.method !== 'free'
  $('[data-given]').hidden = method.method !== 'cash' || !quoted.rest
  drawGift()
  drawNotes()
  drawChange()
}

// drawGift shows what a gift card pays, and what is left to pay.
function drawGift() {
  const {pays} = quoted
  $('[data-gift]').hidden = !card
  $('[data-rest]').hidden = !pays
  if (!card) return
  $('[data-gift-pays]').textContent = `−${money(pays)}`
  $('[data-gift-left]').textContent = T('%s left on it', money(card.balance - pays))
  $('[data-to-pay]').textContent = money(quoted.rest)
}

// keep stores the cart for the page of the next performance.
function keep() {
  const all = Object.fromEntries(others)
  if (cart.size) all[data.slug] = {words: data.show, lines: [...cart.values()].map(l => ({...l, words: words(l.label), name: fares.find(f => f.key === l.type)?.name}))}
  sessionStorage.setItem(store, JSON.stringify(all))
}

// drawShow is the heading of the tickets of a performance.
function drawShow(slug) {
  const row = document.createElement('li')
  row.className = 'show'
  if (slug === data.slug) row.textContent = data.show
  else {
    const link = document.createElement('a')
    link.href = `/desk/events/${slug}/till`
    link.textContent = others.get(slug).words
    row.append(link)
  }
  return row
}

function drawLine(slug, idx, line, i) {
  const said = line.words ?? words(line.label) // a seat of another performance is named by its plan
  const row = document.createElement('li'), name = document.createElement('span'), cost = document.createElement('b'), away = document.createElement('button')
  row.classList.toggle('marked', i === marked)
  row.dataset.seat = line.label
  row.dataset.of = slug
  name.textContent = said
  cost.textContent = line.price === undefined ? '' : money(line.price)
  away.type = 'button'
  away.className = 'quiet'
  away.textContent = '×'
  away.ariaLabel = T('Remove %s', said)
  away.addEventListener('click', () => inTurn(() => remove([[slug, line.label]])))
  row.append(name, ...idx === undefined ? [typeName(line)] : typeChoice(idx, line), cost, away)
  return row
}

// typeChoice lets the ticket type of a seat of this performance be chosen, if there are several.
function typeChoice(idx, line) {
  const kinds = fares.filter(f => f.prices[house.category[idx]] >= 0), choice = document.createElement('select')
  choice.ariaLabel = T('Ticket type of %s', words(line.label))
  choice.append(...kinds.map(f => new Option(f.name, f.key, false, f.key === line.type)))
  choice.addEventListener('change', () => inTurn(() => setType(choice.value, [idx])))
  return kinds.length > 1 ? [choice] : []
}

function typeName(line) {
  const name = document.createElement('small')
  name.textContent = line.name ?? ''
  return name
}

// drawNotes suggests what people give: the sum itself, and the next notes.
function drawNotes() {
  const sums = [...new Set([quoted.rest, ...steps.map(s => Math.ceil(quoted.rest / (s * unit)) * s * unit)])].sort((a, b) => a - b)
  $$('[data-note]').forEach((button, i) => {
    button.hidden = !(i < sums.length)
    button.value = sums[i]
    button.firstElementChild.textContent = i < sums.length ? money(sums[i]) : ''
    button.ariaPressed = given === sums[i]
  })
}

function drawChange() {
  const short = method.method === 'cash' && given !== undefined && given < quoted.rest, title = $('[data-change-title]')
  title.textContent = short ? title.dataset.short : title.dataset.back
  $('[data-change]').textContent = given === undefined ? '' : money(Math.abs(given - quoted.rest))
  $('[data-change]').classList.toggle('short', short)
  const printed = $('[data-paper]').value !== ''
  sell.firstElementChild.textContent = !size() ? T('Sell') : printed ? N('Sell and print %d ticket', 'Sell and print %d tickets', size()) : N('Sell %d ticket', 'Sell %d tickets', size())
  sell.disabled = !size() || short
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
  changes()
  await quote()
}

// remove takes tickets out of the cart: [slug, label].
async function remove(tickets) {
  for (const [slug, label] of tickets) drop(slug, [label])
  if (!size() && pay) nameCustomer() // the next sale is another customer's
  marked = Math.min(marked, size() - 1)
  changes()
  refuse('')
  await quote()
}

async function chooseType(wish) {
  type = wish
  $$('button[data-type]').forEach(b => { b.ariaPressed = b.dataset.type === wish })
  if (cart.size) await setType(wish, marked >= 0 && marked < cart.size ? [[...cart.keys()][marked]] : latest)
}

async function chooseMethod(button) {
  if (button.ariaPressed !== 'true') changes()
  method = {method: button.dataset.method, name: button.dataset.name ?? ''}
  $$('[data-method]').forEach(b => { b.ariaPressed = b === button })
  await quote()
  if (method.method === 'cash' && size()) pay.elements.given.focus()
  if (method.method === 'free') pay.elements.free_reason.focus()
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

// sellCart sells what is in the cart. A repeat is the same sale.
async function sellCart() {
  if (!size() || sell.disabled || !pay) return
  sell.ariaBusy = 'true'
  refuse('')
  if (!sent) {
    const [lead, form] = order()
    remember({lead, total: quoted.total, rest: quoted.rest, back: given === undefined ? 0 : given - quoted.rest, form: {...form, key, paid_by: method.name, name: pay.elements.name.value.trim(), email: pay.elements.email.value.trim()}})
  }
  const {lead, total, rest = total, back, form} = sent, paid = form.method === 'cash' && back > 0 ? rest + back : 0
  let sold = await ask('sales', form, lead)
  if (sold?.payment) {
    if (sent) remember({...sent, code: sold.payment.code}) // a page that is loaded again waits for it
    sold = await atReader(sold.payment)
  }
  sell.removeAttribute('aria-busy')
  if (!sold) return quote()
  document.activeElement?.blur() // before the cart is seen empty: what is typed then is of the next sale
  count('taken', 'shiftSum', total)
  count('drawer', 'drawerSum', form.method === 'cash' ? rest : 0)
  showLast({orders: [sold.order, ...sold.also ?? []].map(({code, event}) => ({code, event, words: event === data.slug ? data.show : others.get(event)?.words ?? event})), total, back, paid})
  cart.clear()
  others.clear()
  latest = []
  card = undefined
  changes()
  pay.elements.code.value = pay.elements.given.value = pay.elements.free_reason.value = ''
  nameCustomer()
  await chooseMethod($('[data-method=cash]'))
  print()
}

// atReader waits for a card, and returns what was sold. What failed is said, and the cart stays: the next press is another sale.
async function atReader(begun) {
  const payment = underWay(begun.state) ? await reader.wait(begun) : begun
  if (payment.state === 'sold') return payment
  for (let looks = 0; looks < 20 && [...cart.keys()].some(taken); looks++) await new Promise(go => { setTimeout(go, 100) }) // the plan hears of it a moment later
  refuse(T('%s The tickets are still in the cart. Try again, or choose another way to pay.', payment.reason))
  changes()
  return undefined
}

// count adds to a figure of the session.
function count(at, of, more) {
  if (data[of] === undefined) return
  data[of] = Number(data[of]) + more
  $(`[data-${at}]`).textContent = data[of] < 0 ? `−${money(-data[of])}` : money(Number(data[of]))
}

// showLast shows a sale with a link to each of its orders.
function showLast(sale) {
  last = sale
  sessionStorage.setItem(storeLast, JSON.stringify(sale))
  $('[data-last]').hidden = false
  const said = sale.back > 0 ? T('Last sale: %s, change %s', money(sale.total), money(sale.back)) : T('Last sale: %s', money(sale.total))
  const links = sale.orders.map(({code, event, words: of}) => {
    const link = document.createElement('a')
    link.dataset.order = code
    link.href = `/desk/events/${event}/orders/${code}`
    link.textContent = sale.orders.length > 1 ? of : said
    return link
  })
  $('[data-orders]').replaceChildren(...links.length > 1 ? [said] : [], ...links)
}

// print has the browser print the tickets of the last sale, of all its orders, while the next one may begin; or their receipts. What the customer
// gave is known of a sale of one order.
async function print(receipts = false) {
  const paper = $('[data-paper]').value || (receipts ? '80' : ''), place = $('#paper')
  if (!paper || !last) return
  const query = new URLSearchParams({paper, ...receipts && {receipt: 'only'}, ...receipts && last.paid && last.orders.length === 1 && {given: last.paid}})
  const pages = await Promise.all(last.orders.map(({code, event}) => fetch(`/desk/events/${event}/till/tickets/${code}?${query}`, {headers: {Accept: 'text/html'}}).then(answer => answer.text()).catch(() => '')))
  const tickets = pages.map(page => new DOMParser().parseFromString(page.split('</head>').at(-1), 'text/html').querySelector('.papers'))
  if (tickets.includes(null)) return refuse(receipts ? T('There is no receipt: nothing was paid for this order.') : T('The tickets could not be loaded. The sale is done: print them again with F6.'))
  for (const more of tickets.slice(1)) tickets[0].append(...more.children)
  place.replaceChildren(tickets[0])
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
  if (dataset.clear !== undefined) return remove(lines().map(([slug, l]) => [slug, l.label]))
  if (dataset.shows !== undefined) return void shows.open()
  if (dataset.reprint !== undefined) return print()
  if (dataset.receipt !== undefined) return print(true)
  if (dataset.giftAway !== undefined) return removeGift()
  return undefined
}

function pressed(event) {
  const button = event.target.closest('button')
  if (!button || button.type === 'submit') return
  inTurn(() => act(button))
  if (event.detail) button.blur() // the next Enter sells
}

async function removeGift() {
  card = undefined
  changes()
  refuse('')
  await quote()
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
  if (shows?.isOpen()) return shows.keydown(event)
  if (reader?.isOpen()) return
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return
  const {target} = event, name = event.key.length === 1 && /[a-z0-9./]/i.test(event.key) ? event.key.toUpperCase() : event.code.startsWith('Key') ? event.code.slice(3) : event.key
  const writes = target.matches('input, select, textarea')
  if (name === 'Enter' && (target === document.body || target.name === 'given')) {
    event.preventDefault()
    if (!event.repeat) inTurn(sellCart)
    return
  }
  const ended = name === 'Enter' && (target.name === 'code' || target.closest('[data-customer]')) // also before the cart was quoted, when no button submits
  if (writes && (name === 'Escape' || ended)) {
    event.preventDefault()
    return target.blur()
  }
  if (writes && name.length === 1 || writes && /^(Arrow|Delete|Backspace)/.test(name)) return
  if (/^Arrow(Up|Down)$/.test(name) && size()) {
    marked = (marked + (name === 'ArrowUp' ? size() - (marked < 0 ? 0 : 1) : 1)) % size()
    event.preventDefault()
    return draw()
  }
  if ((name === 'Delete' || name === 'Backspace') && size()) return inTurn(() => remove(lines().slice(marked < 0 ? -1 : marked).slice(0, 1).map(([slug, l]) => [slug, l.label])))
  const button = $(`[data-key="${CSS.escape(name)}"]`)
  if (!button) return
  event.preventDefault()
  if (event.repeat) return
  if (button.matches('input, select')) return button.focus()
  if (button.matches('summary')) {
    button.parentElement.open = true
    return pay.elements.name.focus()
  }
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
  if (cart.has(idx)) return remove([[data.slug, nameOf(idx)]])
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
    const lost = [...cart.keys()].filter(taken).map(nameOf)
    if (!lost.length || sent) return
    await remove(lost.map(label => [data.slug, label]))
    refuse(gone(lost))
  })
}

// restore reads the cart that another page of the till left, and what it sold last.
function restore() {
  for (const [slug, other] of Object.entries(JSON.parse(sessionStorage.getItem(store) ?? '{}'))) {
    if (slug !== data.slug) others.set(slug, other)
    else for (const {label, type: kind} of other.lines) if (byLabel.has(label)) cart.set(byLabel.get(label), {label, type: fareOf(byLabel.get(label), kind)})
  }
  const sale = JSON.parse(sessionStorage.getItem(storeLast) ?? 'null')
  if (sale) showLast(sale)
  if (pay) nameCustomer(...size() ? JSON.parse(sessionStorage.getItem(storeCustomer) ?? '[]') : [])
}

// nameCustomer says whom the sale is for. The order and its mail have it; of most sales at the counter it stays empty.
function nameCustomer(name = '', email = '') {
  pay.elements.name.value = name
  pay.elements.email.value = email
  $('[data-customer]').open = Boolean(name || email)
  if (!name && !email) sessionStorage.removeItem(storeCustomer)
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
  if ($('.shows')) shows = new Shows($('.shows'))
  if ($('[data-at-reader]')) reader = new AtReader($('[data-at-reader]'))
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
    pay.elements.code.addEventListener('change', () => { changes(); refuse('') })
    pay.elements.code.addEventListener('blur', event => { if (event.target.value !== asked) inTurn(quote) })
    $('[data-customer]').addEventListener('change', () => {
      changes()
      sessionStorage.setItem(storeCustomer, JSON.stringify([pay.elements.name.value, pay.elements.email.value]))
    })
    pay.elements.free_reason.addEventListener('change', () => { changes(); refuse('') })
    pay.elements.given.addEventListener('input', event => { given = typedSum(event.target.value); drawNotes(); drawChange() })
  }
  restore()
  await quote()
  if (sent?.code) inTurn(sellCart) // a card reader has it: the same sale, and its dialog
  else if (sent) refuse(T('There was no answer. Press again: nothing is sold twice.'))
  setInterval(() => { if (others.size && !document.hidden) turn = turn.then(watch).catch(() => undefined) }, WATCH)
  document.body.dataset.till = 'ready'
}

start().catch(() => refuse(T('The plan could not be loaded. Load the page again.')))
