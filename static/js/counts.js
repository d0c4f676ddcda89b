// How many seats are available, and what else the live map says, on pages that draw none: they read it as JSON.

import {$, data, number, path} from 'usher/page'

let free, failures = 0

// listen tells hear each message and how many seats are available, and again() that it listens anew after a break.
export function listen(hear, again) {
  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}${path}/live?as=json${data.since}`)
  socket.onopen = () => { if (failures) again?.() }
  socket.onmessage = event => {
    failures = 0
    const m = JSON.parse(event.data)
    if (m.counts) {
      free = m.counts.reduce((n, c) => n + c.free, 0)
      $('[data-free-total]').textContent = number(free)
    }
    hear?.(m, free)
  }
  socket.onclose = () => setTimeout(listen, 1000 * Math.random() * Math.min(2 ** failures++, 16), hear, again)
}
