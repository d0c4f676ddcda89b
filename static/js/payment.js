// The page of a payment: it asks how the payment stands, and goes on when that changes.

import {clock} from 'usher/clock'
import {listen} from 'usher/counts'
import {$, countdown, data} from 'usher/page'

const EVERY = 1500, DEADLINE = 15000 // ms between two questions, and that an answer may take
let misses = 0, slept // the time that is left is another one than this page shows

async function look() {
  try {
    const answer = await fetch(`${data.payment}?back`, {headers: {Accept: 'application/json'}, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE)})
    misses = answer.ok ? 0 : misses + 1
    if (answer.ok) {
      const {state, page} = (await answer.json()).payment
      if (state !== 'open' || slept) return location.replace(data.payment)
      if (page && !$('.choices .primary')) return location.replace(`${data.payment}?go`) // the provider had not answered when this page was written
    }
  } catch { misses++ }
  setTimeout(look, EVERY * Math.min(2 ** misses, 16))
}

// tick counts down until when the seats are kept.
const tick = () => countdown(data.deadline - clock.now())

export function start() {
  if (!/open|authorized/.test($('main').dataset.state)) return
  setTimeout(look, EVERY)
  if (!$('[data-countdown]')) return // it keeps no seats
  setInterval(tick, 250)
  clock.watch()
  clock.addEventListener('wake', ({detail}) => { slept ||= detail.leapt })
  listen()
}
