// The page of a waiting room. It asks how the room stands, which is the same answer for everybody; what is one person's
// own follows from their number. seats/gate/estimate.go and views/room.go say the same in Go.

const data = document.body.dataset
const $$ = selector => [...document.querySelectorAll(selector)]
const write = (name, text) => $$(`main [data-${name}]`).forEach(e => { if (e.textContent !== text) e.textContent = text })
const numbers = new Intl.NumberFormat('en')

// before is how many people are before a number.
export function before(ahead, number) {
  for (let i = 1; i < ahead.length; i++) {
    const [a, n] = ahead[i - 1], [b, m] = ahead[i]
    if (number <= b) return n + Math.floor(Math.max(0, number - a - 1) * (m - n) / (b - a))
  }
  const [a, n] = ahead.at(-1) ?? [0, 0]
  return n + Math.max(0, number - a - 1)
}

// seconds is how long so many people take to come in; nothing if nobody can tell.
export function seconds({rate, leave}, people) {
  if (!(rate > 0)) return undefined
  const s = people / rate
  const wait = leave > 0 ? Math.log1p(leave * s) / leave : s
  return wait > 86400 ? undefined : wait
}

// words are a wait, and when it is over.
export function words(wait, now, zone) {
  if (wait === undefined) return 'not known yet'
  const from = wait * 0.8, to = wait * 1.2
  if (to < 60) return 'less than a minute'
  const low = Math.floor(from / 60), high = Math.ceil(to / 60)
  if (low < 1) return `up to ${high} min`
  const at = s => new Date(now + s * 1000).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit', timeZone: zone})
  return `${low}–${high} min (${at(from)}–${at(to)})`
}

export const chance = (s, number) => number <= s.likely ? 'likely' : number <= s.maybe ? 'uncertain' : 'unlikely'

// stands is where somebody stands in the room, of what everybody is told and what is theirs.
export function stands(s, {kind, number, called}) {
  const early = s.phase === 'lobby' && s.lobby_opens_at && new Date(s.lobby_opens_at) > Date.now()
  if (s.phase === 'ended') return 'ended'
  if (early) return 'early'
  if (s.phase === 'paused') return 'paused'
  if (s.phase === 'open' && s.free === 0 && s.held === 0 && s.sold > 0) return 'soldout'
  if (!kind) return 'join'
  if (s.phase === 'lobby') return 'lobby'
  if (!number) return 'drawing'
  return number <= s.serving ? called || 'called' : 'waiting'
}

// every is when to ask again, in seconds: the more often, the nearer.
export function every(s, state, wait) {
  const some = (least, more) => least + Math.random() * more
  if (state === 'lobby' || state === 'early') {
    const next = new Date(state === 'early' ? s.lobby_opens_at : s.opens_at) - Date.now()
    return next > 0 && next < 30e3 ? next / 1000 + some(1, 9) : some(24, 12)
  }
  if (state === 'waiting') return Math.min(60, Math.max(5, (wait ?? 600) / 20)) * some(0.8, 0.4)
  return some(4, 2)
}

// sampled tells whether this page is one of those that say they are there in a window.
export async function sampled(s, {kind, index}, window) {
  const view = new DataView(new ArrayBuffer(29))
  view.setBigUint64(0, BigInt(s.room))
  view.setUint32(8, s.epoch)
  view.setUint8(12, kind)
  view.setBigUint64(13, BigInt(index))
  view.setBigUint64(21, BigInt(window))
  const sum = new DataView(await crypto.subtle.digest('SHA-256', view))
  return sum.getUint32(0) / 4294967296 < s.beat
}

let shown, me, least = Infinity, window_ = 0, heard = 0

function show(state, wait) {
  const main = document.querySelector('main')
  const changed = main.dataset.state !== state
  main.dataset.state = state
  $$('[data-when]').forEach(e => { e.hidden = !e.dataset.when.split(' ').includes(state) })
  write('people', numbers.format(shown.lobby))
  write('serving', numbers.format(shown.serving))
  write('note', shown.note ?? '')
  if (me.number) {
    least = Math.min(least, before(shown.ahead ?? [], me.number)) // nobody is ever put before somebody
    write('number', numbers.format(me.number))
    write('ahead', numbers.format(least))
    write('wait', words(wait, Date.now(), data.zone))
    write('seat', chance(shown, me.number))
  }
  write('left-seats', left(shown))
  document.title = {waiting: `${numbers.format(least)} ahead`, called: 'Your turn', next: 'You are next'}[state] ?? 'Waiting room'
  // The turn is said at once; how the line moves is said every half minute at most.
  if (changed && (state === 'called' || state === 'inside')) say("It is your turn.")
  else if (changed || state === 'waiting' && Date.now() - heard > 30e3) say(state === 'waiting' ? `${numbers.format(least)} people are ahead of you.` : document.querySelector(`#stand [data-when="${state}"] h2`)?.textContent ?? '')
}

function say(text) {
  heard = Date.now()
  document.querySelector('#status').classList.add('heard')
  document.querySelector('#status').textContent = text
}

function left(s) {
  const held = numbers.format(s.held)
  if (s.free > 0) return `${numbers.format(s.free)} seats are free, ${held} held`
  if (s.held > 0 && s.next_ends) return `No seat is free. ${held} are held; the next hold ends at ${new Date(s.next_ends).toLocaleTimeString('en-GB', {timeZone: data.zone})}. If its seats come back, the next in line is let in.`
  if (s.held > 0) return `No seat is free. ${held} are held; if one comes back, the next in line is let in.`
  return 'No seat is free or held'
}

// number draws this page's number: everybody draws for themselves, so nobody has to ask.
async function draw() {
  if (!crypto.subtle) return setTimeout(() => location.reload(), Math.random() * 10e3) // the server says it, then
  const {numbers, seed} = await import('usher/draw')
  const record = shown.draw
  me.number = (await numbers(await seed(record), record.people))[me.index - 1]
}

// come asks to be let in, once called.
async function come() {
  const answer = await fetch(`${data.room}/admissions`, {method: 'POST', headers: {Accept: 'application/json'}})
  if (!answer.ok) throw new Error(answer.status)
  const {inside, why, to} = await answer.json()
  if (inside) return location.assign(to)
  me.called = {full: 'next', late: 'late', left: 'left', used: 'left'}[why]
}

async function look() {
  const answer = await fetch(`${data.room}/status`, {headers: {Accept: 'application/json'}})
  if (!answer.ok) throw new Error(answer.status)
  const next = await answer.json()
  if (next.epoch > shown.epoch) return location.reload() // everything begins anew
  if (next.epoch === shown.epoch && next.v >= shown.v) shown = next
}

async function beat() {
  const now = Math.floor(Date.now() / 30e3)
  if (!crypto.subtle || now === window_ || !me.number || me.number <= shown.serving) return
  window_ = now
  if (await sampled(shown, me, now)) await fetch(`${data.room}/presence`, {method: 'POST'})
}

async function step(first) {
  let wait, state
  try {
    if (!first) await look()
    if (me.kind === 1 && !me.number && shown.draw) await draw()
    if (me.number && me.number <= shown.serving && stands(shown, {...me, called: ''}) === 'called' && !['late', 'left'].includes(me.called)) await come()
    await beat()
    document.querySelector('[data-away]').hidden = true
  } catch {
    if (!first) document.querySelector('[data-away]').hidden = false
  }
  state = stands(shown, me)
  if (me.number) wait = seconds(shown, Math.min(least, before(shown.ahead ?? [], me.number)))
  show(state, wait)
  if (!['ended', 'late', 'left', 'soldout', 'inside'].includes(state)) setTimeout(step, every(shown, state, wait) * 1000)
}

if (data.status) {
  shown = JSON.parse(data.status)
  me = {kind: +data.kind, index: +data.index, number: +data.number, called: ''}
  document.body.classList.add('scripted')
  step(true)
}
