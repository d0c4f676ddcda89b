// The page of a place in a wait list: it asks how the place stands, and loads itself again when that changed, but not while
// somebody fills in a form.

import {$, data} from 'usher/page'

const EVERY = 5000
let misses = 0

async function look() {
  try {
    const answer = await fetch(data.entry, {headers: {Accept: 'application/json'}, cache: 'no-store'})
    misses = answer.ok ? 0 : misses + 1
    if (answer.ok && (await answer.json()).entry.shown !== data.shown && !$('details[open]')) return location.replace(data.entry)
  } catch { misses++ }
  setTimeout(look, EVERY * Math.min(2 ** misses, 12))
}

document.body.classList.add('scripted')
setTimeout(look, EVERY)
