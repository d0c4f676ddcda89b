// The page of a waiting room. It asks how the room stands, which is the same answer for everybody; what is one person's
// own follows from their number. Where a socket is to be had, it tells at once what changes, and the page asks less.

import {advice, before, chance, every, exactly, left, moved, near, newer, number, people, promised, sampled, seconds, stands, words} from 'usher/stand'
import {T} from 'usher/text'

const data = document.body.dataset
const $ = selector => document.querySelector(selector)
const $$ = selector => [...document.querySelectorAll(selector)]
const write = (name, text) => $$(`main [data-${name}]`).forEach(e => { if (e.textContent !== text) e.textContent = text })
const name = document.title.split(' · ').at(-1)

let shown, me, least = Infinity
let fresh // when the server last said what is shown, by its clock
let early // of this browser's clock, how much the server's is ahead, in ms
let arrived = '' // where to go, once let in
let beaten = 0 // the last window in which this page said that it is there
let asking // the timer of the next question
let busy // a step is under way
let socket, failed = 0 // when a socket was refused last
let spoke, seen // the versions that the socket told last, and that the last answer was of
let told = least, heard = Date.now(), turned = false

const now = () => Date.now() + early
const soon = () => AbortSignal.timeout(10e3) // a connection that says nothing is as good as none

function show(state) {
  const main = $('main'), ahead = least ? number(least) : T('no one'), changed = main.dataset.state !== state
  main.dataset.state = state
  $$('[data-when]').forEach(e => { e.hidden = !e.dataset.when.split(' ').includes(state) })
  write('people', people(shown))
  write('note', shown.note ?? '')
  for (const count of ['serving', 'free', 'held', 'sold']) write(count, number(shown[count]))
  write('moved', moved(shown, data.zone))
  if (me.number) {
    const seat = chance(shown, me.number)
    write('number', number(me.number))
    write('ahead', ahead)
    const promise = promised(shown, me.number, now())
    write('wait', words(promise, now(), data.zone))
    $('[data-sure]').hidden = !promise
    write('seat', T(seat)) // views/shop/room.go marks these words
    write('advice', advice(seat))
  }
  write('left-seats', left(shown, data.zone))
  write('as-of', T('as of %s', exactly(fresh, data.zone)))
  const turn = T('Your turn')
  document.title = `${{waiting: T('%s ahead', ahead), called: turn, inside: turn, next: T('You are next')}[state] ?? T('Waiting room')} · ${name}`
  announce(state, changed, ahead)
}

// announce says the turn at once, and once; other states as they come, and how the line moves each half minute at most.
function announce(state, changed, ahead) {
  const called = ['called', 'next', 'inside'].includes(state)
  if (called && !turned) {
    turned = true
    if (changed || state !== 'inside') $('#turn').textContent = T('Your number is called. It is your turn.')
  } else if (changed) say($(`#stand [data-when="${state}"] h2`)?.textContent ?? '')
  else if (state === 'waiting' && least !== told && Date.now() - heard > 30e3) say(T('%s ahead of you.', ahead))
}

function say(text) {
  heard = Date.now()
  told = least
  $('#status').classList.add('heard')
  $('#status').textContent = text
}

// draw computes this page's number: each page does, so that none has to ask.
async function draw() {
  if (!crypto.subtle) return setTimeout(() => location.reload(), Math.random() * 10e3) // the server says it, then
  const {numbers, seed} = await import('usher/draw')
  const record = shown.draw
  me.number = (await numbers(await seed(record), record.people))[me.index - 1]
}

// come asks to be let in, once called.
async function come() {
  const answer = await fetch(`${data.room}/admissions`, {method: 'POST', headers: {Accept: 'application/json'}, signal: AbortSignal.timeout(30e3)}) // it is refused after 25 s
  if (!answer.ok) throw new Error(answer.status)
  const {inside, why, to} = await answer.json()
  me.called = inside ? 'inside' : {full: 'next', late: 'late', left: 'left', used: 'left'}[why]
  arrived = inside && to || ''
  enter()
}

// enter goes to the seats while the page is visible; a hidden page says in its title that it is their turn.
function enter() {
  if (arrived && !document.hidden) location.assign(arrived)
}

async function look() {
  const answer = await fetch(`${data.room}/status`, {headers: {Accept: 'application/json'}, signal: soon()})
  if (!answer.ok) throw new Error(answer.status)
  const next = await answer.json()
  fresh = Date.parse(answer.headers.get('date')) || now() // something on the way may have kept it
  if (next.epoch > shown.epoch) return location.reload() // everything begins anew
  shown = newer(next, shown)
  if (spoke < seen) socket?.close() // it is open, and carries nothing any more
  seen = shown.v
}

// listen asks for a socket. Who gets none goes on asking, and tries again in a minute.
function listen() {
  if (socket || Date.now() - failed < 60e3 || !near(shown, least)) return
  let open
  spoke = undefined
  socket = new WebSocket(`${location.origin.replace('http', 'ws')}${data.room}/live`)
  socket.onmessage = ({data}) => hear(JSON.parse(data), open = true)
  socket.onclose = () => {
    socket = undefined
    delete document.body.dataset.told
    if (open) later(every(shown, where())) // at the pace of those who ask, so that not everybody comes at once
    else failed = Date.now()
  }
}

// hear takes what is sent to all pages at once. The rest comes with the next answer: a page does not ask because of it,
// for then everybody would, at the same moment.
function hear(notice) {
  const state = where()
  document.body.dataset.told = ''
  spoke = notice.v
  fresh = now()
  shown = newer({...shown, ...notice}, shown)
  if (where() === state) render()
  else step(true)
}

async function beat() {
  const window = Math.floor(Date.now() / 30e3)
  if (!crypto.subtle || window === beaten || !me.number || me.number <= shown.serving) return
  beaten = window
  if (await sampled(shown, me, window)) await fetch(`${data.room}/presence`, {method: 'POST', signal: soon()})
}

const where = () => stands(shown, me, now())

function later(seconds) {
  clearTimeout(asking)
  asking = setTimeout(step, seconds * 1000)
}

// step asks how the room stands, unless that is known, and does what is to be done about it.
async function step(known) {
  if (busy) return
  busy = true
  let away
  try {
    if (!known) await look()
    if (me.kind === 1 && !me.number && shown.draw) await draw()
    if (['called', 'next'].includes(where())) await come()
    await beat()
  } catch {
    away = true
  }
  busy = false
  const state = where(), pace = every(shown, state, render(away))
  if (['ended', 'late', 'left', 'inside'].includes(state)) {
    clearTimeout(asking)
    if (socket) socket.onclose = null
    return socket?.close()
  }
  const told = socket?.readyState === 1 && !['called', 'next'].includes(state)
  later(told ? Math.max(pace, 24 + 12 * Math.random()) : pace)
  listen()
}

// render shows the visitor's state and returns how long they wait.
function render(away) {
  let wait
  $('[data-away]').hidden = !away && !shown.away
  if (me.number) {
    least = Math.min(least, before(shown.ahead ?? [], me.number)) // numbers before one's own only get fewer
    wait = seconds(shown, least)
  }
  show(where())
  return wait
}

// work has this browser work before it joins, where the room asks for that. One that cannot goes without, and waits.
function work(event) {
  const form = event.target
  if (!form.proof || !crypto.subtle) return
  event.preventDefault()
  import('usher/work').then(({join}) => join(form, data.room)).catch(console.warn).then(() => form.submit())
}

// push offers to notify the visitor by this browser, where it can.
function push() {
  const form = $('[data-tell]'), button = $('[data-push]')
  if (form) form.hidden = false // without scripts it has a page that does not load itself again
  if (!button) return
  const can = 'PushManager' in window && 'serviceWorker' in navigator
  button.parentElement.hidden = !can
  $('[data-no-push]').hidden = can
  button.onclick = () => import('usher/push').then(({subscribe}) => subscribe(button))
}

if (data.status) {
  addEventListener('submit', work)
  push()
  shown = JSON.parse(data.status)
  fresh = Date.parse(shown.at)
  early = fresh - Date.now()
  me = {kind: +data.kind, index: +data.index, number: +data.number, called: data.called}
  document.body.classList.add('scripted')
  document.addEventListener('visibilitychange', enter)
  addEventListener('online', () => step()) // their connection is back
  addEventListener('pageshow', event => { if (event.persisted) location.reload() })
  step(true)
}
