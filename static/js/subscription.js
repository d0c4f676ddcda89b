// The page and the checkout of a subscription with seats that are held: the time that is left, and what becomes of the seats then. The
// server writes what is said of them; a fresh copy of it takes its place, around the fields.

import {clock} from 'usher/clock'
import {$, countdown, key, say, span, T} from 'usher/page'

const EARLY = 2000, PAUSE = 10000, AGAIN = 5000 // ms: shown before the server's end, between tries to extend, between looks at seats that may be lost
const dialog = $('#more-time')
let asked, tried = 0, looked = 0

const facts = () => $('#time').dataset
const left = () => facts().deadline - EARLY - clock.now()

// renew takes what the server says now. Without seats there is another page.
async function renew() {
  const began = performance.now(), answer = await fetch(facts().page).catch(() => ({}))
  looked = performance.now()
  if (!answer.ok) return
  const page = new DOMParser().parseFromString((await answer.text()).split('</head>').at(-1), 'text/html')
  if (!$('#time', page) || !$('#seats').isEqualNode($('#seats', page))) return leave()
  $('#time').replaceWith($('#time', page))
  clock.measure(+facts().now, performance.now() - began)
  tick()
}

// leave is for seats that are lost or changed elsewhere: the page as it is then. What was typed comes along.
const store = `usher${facts().page}`, fields = () => document.querySelectorAll('#order [autocomplete]')
function leave() {
  sessionStorage.setItem(store, JSON.stringify([...fields()].map(f => f.value)))
  location.replace(facts().page + ($('[data-countdown]') ? '' : '?lost')) // without a countdown the hold had expired
}

function tick() {
  if (!$('[data-countdown]')) { // the hold expired: others may be faster
    dialog?.close()
    if (!document.hidden && performance.now() - looked > AGAIN) {
      looked = performance.now()
      renew()
    }
    return
  }
  const ms = left()
  countdown(ms)
  if (dialog) $('[data-left]', dialog).textContent = span(ms)
  if (ms <= -EARLY && performance.now() - looked > 1000) {
    looked = performance.now()
    renew()
  }
  if (ms > 0 && ms < Math.min(120000, facts().length / 4) && dialog && $('[data-extend]') && asked !== facts().deadline) {
    asked = facts().deadline
    dialog.showModal()
  }
}

async function extend() {
  tried = clock.now()
  const before = facts().deadline, answer = await fetch(facts().extension, {method: 'POST', headers: {Accept: 'application/json', 'Idempotency-Key': key()}}).catch(() => ({}))
  if (!answer.ok) say((await answer.json?.().catch(() => 0))?.error?.message ?? T('That didn’t work. Try again.'))
  await renew()
  if (facts().deadline > before) say(T('Time added.'))
}

dialog?.addEventListener('click', event => {
  if (event.target.matches('[data-more]')) extend()
  if (event.target.matches('button')) dialog.close()
})
// Who types is there: their time is made longer once half of it is over.
$('form#order')?.addEventListener('input', () => {
  if ($('[data-extend]') && left() < facts().length / 2 && clock.now() - tried > PAUSE) extend()
})
const typed = JSON.parse(sessionStorage.getItem(store) ?? '[]')
sessionStorage.removeItem(store)
fields().forEach((f, i) => { f.value ||= typed[i] ?? '' })
clock.measure(+facts().now, performance.now())
clock.watch()
clock.addEventListener('wake', renew)
addEventListener('pageshow', event => { if (event.persisted) renew() })
document.addEventListener('visibilitychange', () => { if (!document.hidden) renew() })
setInterval(tick, 250)
