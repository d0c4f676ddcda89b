// The page of the door: reads codes with the camera, checks them here while the server cannot be reached, and sends them later.

import {$, data, key, locale} from 'usher/page'
import {isOfMoment} from 'usher/rotation'
import {N, T} from 'usher/text'

const verdict = $('.verdict'), form = $('main > form'), place = form.elements.place, line = $('[data-line]'), choices = $('[data-choices]'), video = $('video')
const store = `usher-door-${data.event}` // what waits to be sent survives the page, and its link: any other one of the event sends it
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const at = scan => `${store} ${scan.key}` // each by itself: another tab keeps its own
const waiting = () => Object.keys(localStorage).filter(k => k.startsWith(`${store} `)).map(k => JSON.parse(localStorage.getItem(k))).sort((a, b) => a.at - b.at)
let known = new Map() // tickets by id, as of the last answer of the server
const here = new Map() // what this page did since: whether a ticket went out, when, and what to say of it if it did not
let lost = false // the box office could not be reached: scans are judged here, without a wait for each

if (place) place.value ||= localStorage.getItem('usher-place') || ''

let audio
// sound is one high tone for those who may pass, and two low ones for those who may not.
function sound(good) {
  audio ||= new AudioContext()
  for (const at of good ? [0] : [0, .22]) {
    const tone = audio.createOscillator(), volume = audio.createGain(), from = audio.currentTime + at
    tone.type = good ? 'sine' : 'square'
    tone.frequency.value = good ? 1320 : 220
    volume.gain.setValueAtTime(good ? .4 : .25, from)
    volume.gain.exponentialRampToValueAtTime(.001, from + .18)
    tone.connect(volume).connect(audio.destination)
    tone.start(from)
    tone.stop(from + .2)
  }
}

// write replaces what the verdict says.
function write(state, ...lines) {
  verdict.dataset.state = state
  verdict.replaceChildren(...lines.filter(Boolean).map((text, i) => {
    const p = document.createElement('p')
    p.textContent = text
    if (!i) p.className = 'word'
    return p
  }))
}

// show is a verdict, for eyes and ears.
function show(state, ...lines) {
  write(state, ...lines)
  verdict.scrollIntoView({block: 'nearest'})
  const good = ['in', 'out', 'outside'].includes(state)
  navigator.vibrate?.(good ? 60 : [120, 60, 120])
  try {
    sound(good)
  } catch {} // this browser makes none
}

// admitting counts the tickets that admit a person. One that was cancelled is stored, too: the door says so when it is scanned.
const admitting = tickets => [...tickets.values()].filter(ticket => !ticket.revoked).length

function tell() {
  const n = waiting().length
  if (n) line.textContent = N('%d scan waits until the box office can be reached. It is kept on this phone.', '%d scans wait until the box office can be reached. They are kept on this phone.', n)
  else line.textContent = admitting(known) ? N('%d ticket is stored on this device: this page also works offline.', '%d tickets are stored on this device: this page also works offline.', admitting(known)) : ''
}

const LETTERS = 149 // of a ticket's code; if it rotates, those of the moment follow
const clock = () => Date.now() + Number(localStorage.getItem('usher-clock'))

// bytes reads a ticket's code, as package orders writes it, without the letters of the moment; null if it is none.
function bytes(code) {
  if (code.length === LETTERS + 5) code = code.slice(0, LETTERS)
  if (code.length !== LETTERS) return null
  const out = new Uint8Array(93)
  let bits = 0, held = 0, n = 0
  for (const letter of code) {
    const value = letters.indexOf(letter)
    if (value < 0) return null
    held = held << 5 | value
    bits += 5
    if (bits >= 8) {
      out[n++] = held >> (bits -= 8)
      held &= (1 << bits) - 1
    }
  }
  return held ? null : out
}

// ours reports whether a ticket's code is of this event.
const ours = b => new DataView(b.buffer).getBigUint64(5) === BigInt(data.event)

// idOf is the id of the ticket a code is for.
function idOf(b) {
  const hex = Array.from(b.subarray(13, 29), x => x.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

// since says when and where the ticket was used, as the server does.
function since(at, place) {
  const by = data.device, when = new Date(at), day = new Intl.DateTimeFormat(locale(), {day: 'numeric', month: 'long'}).format(when), time = when.toLocaleTimeString(locale())
  if (by) return T('This ticket was already used on %s by %s.', T('%s, %s', day, time), by)
  return place ? T('This ticket was already used on %s at %s.', T('%s, %s', day, time), place) : T('This ticket was already used on %s.', T('%s, %s', day, time))
}

// welcome lets somebody in, and says what their ticket type needs, as the server does.
const welcome = ({type, proof} = {}) => !type ? T('Let them in.') : proof ? T('Let them in. %s, to be shown at the door: %s.', type, proof) : T('Let them in. %s.', type)

// still reports whether a code with these letters at its end is a picture of a ticket with a rotating code. Of a ticket that was sold since the
// list was learnt the letters cannot be checked here: the server does so later.
async function still(letters, ticket) {
  if (!ticket) return 'rotates' in data && !letters
  return !!ticket.rotation && !await isOfMoment(ticket.rotation, letters, clock())
}

// judge says what a code is without asking anybody: null if this browser cannot check signatures.
async function judge({code, way}) {
  const b = bytes(code)
  if (code.length === 26) return {word: 'which', message: T('The code of an order cannot be looked up while the box office cannot be reached. Scan its tickets.')}
  if (!b || b[0] !== 1) return {word: 'unknown', message: T('This is not one of our tickets.')}
  const view = new DataView(b.buffer)
  if (!ours(b)) return {word: 'foreign', message: T('This ticket is for another event.')}
  const mine = JSON.parse(data.keys).find(k => k.id === view.getInt32(1))
  if (!mine) return {word: 'unknown', message: T('This is not one of our tickets.')}
  try {
    const raw = Uint8Array.from(atob(mine.key), c => c.charCodeAt(0))
    const publicKey = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    if (!await crypto.subtle.verify('Ed25519', publicKey, b.subarray(29), b.subarray(0, 29))) return {word: 'unknown', message: T('This is not one of our tickets.')}
  } catch {
    return null
  }
  const id = idOf(b), ticket = known.get(id)
  if (ticket?.revoked) return {word: 'revoked', message: ticket.message || T('This ticket was cancelled.'), seat: ticket.seat, name: ticket.name}
  if (way !== 'out' && await still(code.slice(LETTERS), ticket)) return {word: 'still', message: T('This is a picture or a printout of a ticket. Ask to see the ticket on its page.'), seat: ticket?.seat, name: ticket?.name}
  const mark = {seat: ticket?.seat, name: ticket?.name, id}, last = here.get(id) || (ticket?.in || ticket?.out ? ticket : null)
  if (way === 'out') return last && !last.out ? {word: 'out', message: T('Let them out.'), ...mark} : {word: 'outside', message: T('Let them out. This ticket was not scanned in before.'), ...mark}
  if (ticket?.gate) return {word: 'gate', message: ticket.gate, ...mark}
  if (last && !(last.out && 'reentry' in data)) return {word: 'again', message: last.message || ticket?.message, ...mark}
  return {word: 'in', message: welcome(ticket), ...mark}
}

// heard notes that the box office answered what was asked at a time, and how far its clock is ahead of this one. An answer may take long.
function heard(answer, asked) {
  if (answer.status >= 500) return
  lost = false
  const date = Date.parse(answer.headers.get('date')), ahead = date - Math.min(Math.max(date, asked), Date.now())
  localStorage.setItem('usher-clock', Math.abs(ahead) > 5000 ? ahead : 0)
}

async function send(scan) {
  const asked = Date.now()
  const answer = await fetch(`${data.door}/scans`, {
    method: 'POST', headers: {'Content-Type': 'application/json', Accept: 'application/json'}, body: JSON.stringify(scan), signal: AbortSignal.timeout(4000),
  })
  const body = await answer.json()
  heard(answer, asked)
  if (!answer.ok) throw Object.assign(new Error(body.error.message), {refused: answer.status < 500, closed: answer.status === 404})
  return body
}

// did notes what a scan did to a ticket.
const did = (id, scan, at) => here.set(id, {out: scan.way === 'out', at, message: since(at, scan.place)})

// keep judges a scan that could not be sent, and keeps it.
async function keep(scan) {
  const v = await judge(scan)
  if (!v) show('which', T('Kept, and not checked.'), T('This browser cannot check codes while the box office cannot be reached. It is checked later.'))
  else show(v.word, v.message, v.seat, v.name, T('The box office could not be reached: checked on this phone.'))
  if (v && !['in', 'out', 'outside'].includes(v.word)) return
  scan.at = clock()
  if (v) did(v.id, scan, scan.at)
  localStorage.setItem(at(scan), JSON.stringify(scan))
  tell()
}

async function check(code, ticket = '') {
  const scan = {key: key(), code: code.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1'), ticket, place: place?.value ?? '', way: form.elements.way?.value ?? 'in', at: 0}
  if (place) localStorage.setItem('usher-place', scan.place)
  choices.replaceChildren()
  write('idle', T('Checking …')) // the verdict on the one before is not theirs
  const waits = waiting().some(one => one.code.slice(0, LETTERS) === scan.code.slice(0, LETTERS)) // the box office does not know that it is in
  if (lost || waits) return keep(scan)
  let v
  try {
    v = await send(scan)
  } catch (err) {
    if (err.refused) return show('unknown', err.message)
    lost = true
    return keep(scan)
  }
  if (['in', 'out', 'outside'].includes(v.word)) did(v.ticket, scan, Date.now())
  show(v.word, v.message, v.seat, v.name)
  for (const choice of v.choices || []) {
    const button = document.createElement('button')
    button.textContent = choice.name ? `${choice.seat} · ${choice.name}` : choice.seat
    button.onclick = () => next(code, choice.id)
    choices.append(button)
  }
}

// learn asks for the tickets; of the worker, which may know them from before, unless they are not to be stored ones.
async function learn(cache) {
  const asked = Date.now()
  const answer = await fetch(`${data.door}/tickets`, {headers: {Accept: 'application/json'}, cache, signal: AbortSignal.timeout(10000)})
  if (cache === 'no-store') heard(answer, asked)
  if (!answer.ok) throw new Error(answer.status)
  known = new Map((await answer.json()).tickets.map(t => [t.id, t]))
}

let sending = false
// catchUp sends what waits, in the order in which it was scanned, and learns what there is to know.
async function catchUp() {
  if (sending) return
  sending = true
  const twice = []
  try {
    for (const scan of waiting()) {
      const v = await send(scan).catch(err => {
        if (!err.refused || err.closed) throw err
        return {word: 'unknown', message: err.message} // it stays refused, and the others are not to wait for it
      })
      if (v.word === 'selling') continue // until it is known who has the seat
      if (!['in', 'out', 'outside'].includes(v.word)) twice.push(v)
      localStorage.removeItem(at(scan))
      tell()
    }
    const asked = Date.now()
    await learn('no-store')
    for (const [id, {at}] of here) if (at < asked) here.delete(id)
    remember()
    tell()
  } catch (err) { // another time; what was not taken stays
    if (err.refused) show('unknown', err.message, waiting().length && T('Scans from before are kept on this phone. Open a link that opens the door.'))
    if (!known.size) await learn('default').catch(() => {})
    tell()
  }
  sending = false
  if (twice.length) show('again', N('%d earlier scan was refused:', '%d earlier scans were refused:', twice.length), ...twice.map(v => v.seat ? T('%s: %s', v.seat, v.message) : v.message))
}

let turn = Promise.resolve()
// next judges scans one after the other.
const next = (code, ticket) => turn = turn.then(() => check(code, ticket)).catch(err => show('unknown', err.message))

form.onsubmit = event => {
  event.preventDefault()
  const code = form.elements.code.value
  next(code)
  form.elements.code.value = ''
  form.elements.code.focus()
}

// A hand scanner types wherever the focus is.
addEventListener('keydown', event => {
  if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.matches('input:not([type=radio])')) form.elements.code.focus()
})

const camera = $('[data-camera]'), torch = $('[data-torch]')
let last = '', seen = 0
const own = 'BarcodeDetector' in window && (await BarcodeDetector.getSupportedFormats()).includes('qr_code') // else ours is loaded
// same is what the codes have in common that one phone shows one after the other. After a picture of it, the next code is looked at.
const same = code => verdict.dataset.state === 'still' ? code : code.slice(0, LETTERS)
async function look() {
  const Reader = own ? BarcodeDetector : (await import('usher/qr')).BarcodeDetector
  const reader = new Reader({formats: ['qr_code']})
  video.srcObject = await navigator.mediaDevices.getUserMedia({video: {facingMode: 'environment'}})
  video.hidden = !(camera.hidden = true)
  await video.play()
  const [track] = video.srcObject.getVideoTracks()
  torch.hidden = !track.getCapabilities?.().torch
  torch.onclick = async () => {
    const on = torch.getAttribute('aria-pressed') !== 'true'
    await track.applyConstraints({advanced: [{torch: on}]}).then(() => torch.setAttribute('aria-pressed', on), () => {})
  }
  for (;;) {
    const [found] = await reader.detect(video).catch(() => [])
    if (found && same(found.rawValue) !== last) {
      await next(found.rawValue)
      last = same(found.rawValue)
    }
    if (found) seen = Date.now()
    else if (Date.now() - seen > 1500) last = '' // the next one may be the same ticket, on its way out
    await new Promise(done => setTimeout(done, 200))
  }
}
if (navigator.mediaDevices) {
  camera.hidden = false
  camera.onclick = () => look().catch(() => { line.textContent = T('The camera cannot be used. Type the code, or allow the camera in the browser.') })
}

// remember notes what the scans did that wait to be sent.
function remember() {
  for (const scan of waiting()) {
    const b = bytes(scan.code)
    if (b) did(idOf(b), scan, scan.at)
  }
}
// takeOver finds scans of this event that were kept by link, as this page did before: each by itself, or all of them in a list.
function takeOver() {
  for (const old of Object.keys(localStorage).filter(k => k.startsWith('usher/door/'))) {
    const scans = [JSON.parse(localStorage.getItem(old))].flat()
    if (!scans.every(({code}) => bytes(code) && ours(bytes(code)))) continue
    for (const scan of scans) localStorage.setItem(at(scan), JSON.stringify(scan))
    localStorage.removeItem(old)
  }
}
takeOver()
remember()
// lasting keeps this page for a reload without the server.
async function lasting() {
  await navigator.serviceWorker.register('/door/worker.js')
  const loaded = performance.getEntriesByType('resource').map(e => e.name).filter(name => name.includes('/static/'))
  if (!own) loaded.push(import.meta.resolve('usher/qr'))
  const cache = await caches.open('usher-door')
  await cache.addAll([data.door, `${data.door}/tickets`, ...new Set(loaded)])
  document.body.dataset.lasts = ''
}
if (navigator.serviceWorker) lasting().catch(() => {}) // without it, the page has to stay open

addEventListener('online', catchUp)
setInterval(catchUp, 15000)
tell()
catchUp()
