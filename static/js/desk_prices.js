// The page of prices. Without this, what is typed has its name in all tables once it is saved.

import {$$} from 'usher/page'
import {T} from 'usher/text'

// A ticket type that is named or renamed has its new name in all tables, and in what their fields are called.
function name(field) {
  const type = field.dataset.names, name = field.value.trim() || T('New ticket type %s', +type + 1)
  for (const row of $$(`[data-type="${type}"]`)) {
    const cell = row.firstElementChild
    if (!cell.children.length) cell.textContent = name
    for (const part of $$('[aria-label]', row)) part.ariaLabel = name + part.ariaLabel.slice(part.ariaLabel.lastIndexOf(': '))
  }
}

document.addEventListener('input', ({target}) => target.matches('[data-names]') && name(target))
$$('[data-names]').forEach(name) // also what was typed while this was on its way
