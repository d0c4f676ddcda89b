// The page of a draw: it does the draw again in this browser.

import {verify} from 'usher/draw'
import {T, number} from 'usher/text'

const data = document.body.dataset
const button = document.querySelector('[data-check]')
const checked = document.querySelector('[data-checked]')

function say(lines) {
  checked.replaceChildren(...lines.map(text => Object.assign(document.createElement('p'), {textContent: text})))
}

async function check() {
  button.disabled = true
  try {
    const record = await (await fetch(`${data.room}/draw.json`)).json()
    const began = performance.now()
    const {wrong, table} = await verify(record)
    const took = ((performance.now() - began) / 1000).toFixed(1)
    say(wrong.length ? [T('The draw is wrong.'), ...wrong] : [
      T('The draw is right: %s numbers were drawn again in %s s, and all are the same.', number(record.people), took),
      ...+data.kind === 1 && table[data.index - 1] ? [T('Your place %s in the lobby has number %s.', number(+data.index), number(table[data.index - 1]))] : [],
    ])
  } catch (error) {
    say([T('The draw could not be done again: %s', error.message)])
  }
  button.disabled = false
}

if (button) {
  button.hidden = !globalThis.crypto?.subtle // only where the connection is safe
  button.addEventListener('click', check)
}
