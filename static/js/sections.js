// The search for a section: sections stay if their name, or that of their tier, begins with the typed text.

const $$ = (selector, root = document) => [...root.querySelectorAll(selector)]

export function start() {
  const field = document.querySelector('.sections input')
  if (!field) return
  const opened = $$('.sections details').filter(tier => tier.open)
  field.addEventListener('input', () => {
    const sought = field.value.trim().toLowerCase()
    for (const tier of $$('.sections details')) {
      let found = 0
      for (const row of $$('li', tier)) {
        row.hidden = !row.querySelector('b').textContent.toLowerCase().startsWith(sought)
        if (!row.hidden) found++
      }
      tier.hidden = !found
      tier.open = sought ? found > 0 : opened.includes(tier)
    }
  })
  field.form.addEventListener('submit', event => {
    const link = $$('.sections li:not([hidden]) a')[0]
    if (!field.value.trim() || !link) return
    event.preventDefault()
    link.click()
  })
}
