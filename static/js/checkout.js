// The page of a checkout: the time that is left, and what was typed, kept for when the page is loaded again. Everything
// else is a plain form.

import {clock} from 'usher/clock'
import {$, data, path, span} from 'usher/page'

const EARLY = 2000 // the time shown ends this much before the server's
const box = $('.left'), shown = box && $('[data-countdown]', box), bar = box && $('progress', box)

document.body.classList.add('scripted')
clock.measure(Number(data.now), performance.now()) // it was written since the page was asked for

function tick() {
  const ms = Number(data.deadline) - clock.now()
  if (ms <= 0) {
    box.dataset.state = 'lapsed'
    return clearInterval(timer)
  }
  shown.textContent = span(ms - EARLY)
  bar.value = ms / Number(data.holdLength)
}

// look asks what time it is, and until when the seats are held now, after the page was away.
async function look() {
  const began = performance.now(), answer = await fetch(`${path}/hold`).catch(() => undefined)
  if (!answer?.ok) return
  const {hold} = await answer.json()
  clock.measure(Date.parse(hold.now), performance.now() - began)
  data.deadline = Date.parse(hold.expires_at)
  tick()
}

const timer = box && setInterval(tick, 250)
if (box?.dataset.state === 'held') {
  tick()
  clock.watch()
  clock.addEventListener('wake', look)
  addEventListener('pageshow', event => { if (event.persisted) look() })
} else clearInterval(timer)

const form = $('main form'), store = `usher${path}/checkout` // of this tab, until the order is there (order.js)
const fields = [...form.elements].filter(f => f.matches('.who *, [type=radio]'))
const marked = f => f.matches('[type=checkbox], [type=radio]')
const name = f => f.type === 'radio' ? f.value : f.name

function keep() {
  sessionStorage.setItem(store, JSON.stringify(Object.fromEntries(fields.map(f => [name(f), marked(f) ? f.checked : f.value]))))
}

const kept = JSON.parse(sessionStorage.getItem(store) || '{}')
for (const f of fields) {
  if (marked(f)) f.checked = kept[name(f)] ?? f.checked
  else f.value = kept[name(f)] || f.value
}
form.oninput = form.onsubmit = keep

$('[aria-invalid]')?.focus()
