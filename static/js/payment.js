// The page of a payment: it asks how the payment stands, and goes on when that changes.

import {$, data} from 'usher/page'

const was = $('main').dataset.state
const EVERY = 1500
let misses = 0

async function look() {
  try {
    const answer = await fetch(`${data.payment}?back`, {headers: {Accept: 'application/json'}, cache: 'no-store'})
    misses = answer.ok ? 0 : misses + 1
    if (answer.ok && (await answer.json()).payment.state !== 'open') return location.replace(data.payment)
  } catch { misses++ }
  setTimeout(look, EVERY * Math.min(2 ** misses, 16))
}

document.body.classList.add('scripted')
if (was === 'open' || was === 'authorized') setTimeout(look, EVERY)
