// The page of a draw: it does the draw again in this browser.

import {verify} from 'usher/draw'

const data = document.body.dataset
const button = document.querySelector('[data-check]')
const checked = document.querySelector('[data-checked]')
const number = n => n.toLocaleString('en')

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
    say(wrong.length ? ['The draw does not hold.', ...wrong] : [
      `The draw holds: ${number(record.people)} numbers were drawn again in ${took} s, and all are the same.`,
      ...+data.kind === 1 && table[data.index - 1] ? [`Your place ${number(+data.index)} in the lobby has number ${number(table[data.index - 1])}.`] : [],
    ])
  } catch (error) {
    say([`The draw could not be done again: ${error.message}`])
  }
  button.disabled = false
}

if (button) {
  button.hidden = !globalThis.crypto?.subtle // only where the connection is safe
  button.addEventListener('click', check)
}
