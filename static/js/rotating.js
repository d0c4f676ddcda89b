// The page of tickets with rotating codes: it draws the codes of the moment, also while the network is away.

import {$$, calm, data, path} from 'usher/page'
import {encodeQR} from 'usher/qrcode'
import {STEP, lettersOf, stepAt} from 'usher/rotation'

document.body.classList.add('scripted')
sessionStorage.removeItem(`usher${path}/checkout`) // what was typed at the checkout is in the order now

// The box office's clock, in ms before that of this phone, which goes on while the phone sleeps.
let ahead = +data.now + performance.now() / 2 - Date.now() // it was written since the page was asked for
const now = () => Date.now() + ahead

// measure asks for the time anew: the clock of the phone may have been set.
async function measure() {
  const asked = Date.now(), answer = await fetch(location.href, {method: 'HEAD', cache: 'no-store'})
  const measured = Date.parse(answer.headers.get('date')) + 500 - (asked + Date.now()) / 2 // the header has no parts of a second
  if (Math.abs(measured - ahead) > 2000) ahead = measured
}

// draw writes a code into a picture, a unit for each module, as package views does.
function draw(svg, code) {
  svg.dataset.code = code
  const rows = encodeQR(code, 'raw', {ecc: 'medium', border: 4})
  svg.querySelector('path').setAttribute('d', rows.map((row, y) => row.map((black, x) => black ? `M${x} ${y}h1v1h-1z` : '').join('')).join(''))
}

// bar shows how long a code is good, below it.
function bar(svg) {
  const rect = document.createElementNS(svg.namespaceURI, 'rect')
  for (const [name, value] of Object.entries({x: 4, y: 49, width: 41, height: 1})) rect.setAttribute(name, value)
  svg.append(rect)
  return rect
}

const tickets = $$('[data-rotation]').map(svg => ({svg, code: svg.dataset.code.slice(0, -5), bar: bar(svg)}))
let shown
async function show() {
  const step = stepAt(now())
  if (step === shown) return
  shown = step
  for (const t of tickets) {
    draw(t.svg, t.code + await lettersOf(t.svg.dataset.rotation, step))
    t.shrinks?.cancel()
    t.shrinks = t.bar.animate({transform: ['none', 'scaleX(0)']}, {duration: STEP, easing: calm.matches ? 'steps(3)' : 'linear', fill: 'forwards'})
    t.shrinks.currentTime = now() % STEP
  }
}

if (crypto.subtle) {
  await show()
  setInterval(show, 500)
  document.addEventListener('visibilitychange', () => { document.hidden || show().then(measure).catch(() => {}) })
  addEventListener('online', () => measure().catch(() => {}))
} else setTimeout(() => location.reload(), STEP - now() % STEP) // a page without TLS cannot make codes, and gets them from the server
