// The page of a public log: it checks in this browser that a ticket is in the signed tree (docs/audit-log.md).

import {proven} from 'usher/logproof'
import {T, number} from 'usher/text'

const form = document.querySelector('[data-check]')
const checked = document.querySelector('[data-checked]')

async function check() {
  const lines = []
  try {
    const found = await proven(path => fetch(`${document.body.dataset.log}/${path}`), form.code.value)
    if (found.wrong) lines.push(T('This ticket is not in the log.'))
    else {
      lines.push(T('The ticket is in the log: change %s sold its seat, and the log of %s changes with it is signed.', number(found.leaf), number(found.size)))
      if (found.opened) lines.push(T('The sale is to the order of this ticket.'))
      if (!found.signed) lines.push(T('This browser cannot check the signature.'))
    }
  } catch (error) {
    lines.push(T('The ticket could not be checked: %s', error.message))
  }
  checked.replaceChildren(...lines.map(textContent => Object.assign(document.createElement('p'), {textContent})))
}

if (globalThis.crypto?.subtle) { // only where the connection is safe
  form.hidden = false
  form.code.value = decodeURIComponent(location.hash.slice(1))
  form.addEventListener('submit', event => {
    event.preventDefault()
    check()
  })
}
