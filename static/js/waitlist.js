// The page of a place in a waiting list: it asks for its state, and shows it anew when that changed, but not while
// a form is filled in. A hidden page asks once a minute.

import {$, data, say} from 'usher/page'

const EVERY = 5000, SELDOM = 60e3, DEADLINE = 15e3
let misses = 0, asked = 0, next

async function look() {
  const mine = ++asked
  try {
    const answer = await fetch(data.entry, {headers: {Accept: 'application/json'}, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE)})
    misses = answer.ok ? 0 : misses + 1
    const shown = answer.ok ? (await answer.json()).entry.shown : data.shown
    if (mine === asked && shown !== data.shown && !$('details[open]')) await renew(shown, mine)
  } catch { misses++ }
  if (mine === asked) later()
}

function later() {
  clearTimeout(next)
  next = setTimeout(look, document.hidden ? SELDOM : EVERY * Math.min(2 ** misses, 12) * (.8 + .4 * Math.random()))
}

// renew puts what the page says now in the place of what it said. Only the parts that change are read: the head of a page
// is for a page of its own.
async function renew(shown, mine) {
  const answer = await fetch(data.entry, {headers: {Accept: 'text/html'}, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE)})
  if (!answer.ok) throw new Error(answer.status)
  const text = await answer.text()
  if (mine !== asked || $('details[open]')) return // it was asked again since, or a form was opened
  const part = document.createElement('template')
  part.innerHTML = text.match(/<title>.*?<\/title>/s)[0] + text.match(/<main.*<\/main>/s)[0]
  const [title, main] = part.content.children, turned = main.dataset.state !== $('main').dataset.state
  $('main').replaceWith(main)
  data.shown = shown
  push()
  document.title = title.textContent
  if (turned) say($('main h2').textContent, false)
}

// push offers to notify the attendee by this browser, where it can.
function push() {
  const button = $('[data-push]')
  if (!button || !('PushManager' in window && 'serviceWorker' in navigator)) return
  button.parentElement.hidden = button.closest('section').hidden = false
  button.onclick = () => import('usher/push').then(({subscribe}) => subscribe(button))
}

document.body.classList.add('scripted')
push()
document.addEventListener('visibilitychange', () => document.hidden || look())
later()
