// The page of prices. Without this, what is typed has its name in all tables once it is saved.

import {$$} from 'usher/page'

// A ticket type that is named or renamed has its new name in all tables, and in what their fields are called.
document.addEventListener('input', ({target}) => {
  if (!target.matches('[data-names]')) return
  const name = target.value.trim() || `New ticket type ${+target.dataset.names + 1}`
  for (const row of $$(`[data-type="${target.dataset.names}"]`)) {
    const cell = row.firstElementChild
    if (!cell.children.length) cell.textContent = name
    for (const field of $$('[aria-label]', row)) field.ariaLabel = name + field.ariaLabel.slice(field.ariaLabel.lastIndexOf(': '))
  }
})
