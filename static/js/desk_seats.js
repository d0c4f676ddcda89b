// The seats of a section at the desk: a frame drawn around some marks them, and the page says how many are marked and what
// they cost.

import {N, T} from 'usher/text'

const grid = document.querySelector('.plot'), said = document.querySelector('[data-marked]'), form = grid.closest('form')
const boxes = [...grid.querySelectorAll('input[name=seat]')]
document.querySelector('[data-lasso]').hidden = !matchMedia('(pointer: fine)').matches

function count() {
  const n = boxes.filter(b => b.checked).length
  said.textContent = n ? N('%d seat is marked.', '%d seats are marked.', n) : T('Mark seats, or write them down.')
}
grid.addEventListener('change', count)
count()

// update takes the till from a fresh copy of the page: the total and the types of the chosen seats are the server's word. all
// says that each seat gets the type of all.
let waiting, asked
function update(all) {
  form.elements.total?.remove()
  clearTimeout(waiting)
  asked?.abort()
  waiting = setTimeout(async () => {
    const {signal} = asked = new AbortController()
    const fields = new URLSearchParams(new FormData(form))
    for (const name of [...fields.keys()]) if (['name', 'email', 'reason'].includes(name) || all && name.startsWith('type.')) fields.delete(name)
    fields.set('update', 'on')
    const answer = await fetch(form.action, {method: 'POST', body: fields, headers: {Accept: 'text/html'}, signal}).catch(error => error)
    const body = answer.text && await answer.text().catch(String)
    if (!body || signal.aborted) return
    const copy = new DOMParser().parseFromString(body.split('</head>').at(-1), 'text/html'), till = copy.querySelector('#till')
    if (!till) return
    const at = document.activeElement.name
    const wrong = copy.querySelector('.refused')
    if (wrong) till.append(wrong)
    document.querySelector('#till').replaceWith(till)
    till.querySelector(`select[name="${at}"]`)?.focus()
  }, 150)
}
form.addEventListener('change', e => {
  if (/^(seat|seats|method|code|type|type\.\d+)$/.test(e.target.name)) update(e.target.name === 'type')
})

let from, frame, before
grid.addEventListener('pointerdown', e => {
  if (e.pointerType !== 'mouse' || e.button !== 0 || e.target.closest('a, button')) return
  from = {x: e.clientX, y: e.clientY}
  before = new Map(boxes.map(b => [b, e.shiftKey && b.checked]))
})

addEventListener('pointermove', e => {
  if (!from || (!frame && Math.hypot(e.clientX - from.x, e.clientY - from.y) < 6)) return
  if (!frame) {
    frame = document.createElement('div')
    frame.className = 'frame'
    document.body.append(frame)
    getSelection().removeAllRanges()
  }
  e.preventDefault()
  const left = Math.min(from.x, e.clientX), top = Math.min(from.y, e.clientY)
  const right = Math.max(from.x, e.clientX), bottom = Math.max(from.y, e.clientY)
  Object.assign(frame.style, {left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px`})
  for (const b of boxes) {
    const r = b.parentElement.getBoundingClientRect()
    const x = r.left + r.width / 2, y = r.top + r.height / 2
    b.checked = before.get(b) || (x > left && x < right && y > top && y < bottom)
  }
  count()
})

addEventListener('pointerup', e => {
  if (frame) {
    frame.remove()
    update()
    addEventListener('click', stop, {capture: true, once: true}) // the seat under the pointer keeps what the frame gave it
    setTimeout(() => removeEventListener('click', stop, {capture: true}))
  }
  from = frame = undefined
})
const stop = e => e.preventDefault()
