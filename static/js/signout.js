// A member or an attendee who signs out leaves nothing of theirs in this tab, such as names at the till or at a checkout, and a member no
// drawing of the plan editor that was not saved. What would be lost stays: a sale at the till that waits for its answer (till.js), and what a
// door has yet to send (door.js).

// drafts has the browser's own database do something with the drawings (editor_draft.js); undefined if it has none.
const drafts = (mode, does) => new Promise(answer => {
  const request = indexedDB.open('usher-plans', 1), none = () => answer(undefined)
  request.onupgradeneeded = () => request.transaction.abort() // there was none
  request.onerror = none
  request.onsuccess = () => {
    const asked = does(request.result.transaction('drafts', mode).objectStore('drafts'))
    asked.onsuccess = () => answer(asked.result)
    asked.onerror = none
  }
}).catch(() => undefined) // a private window may keep nothing

const waits = name => name.endsWith(' sent') && sessionStorage.getItem(name) !== 'null'
const forget = of => Object.keys(sessionStorage).filter(name => of(name) && !waits(name)).forEach(name => sessionStorage.removeItem(name))

for (const form of document.querySelectorAll('[data-leave]')) {
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (form.dataset.leave && await drafts('readonly', store => store.count())) { // a member's
      if (!confirm(form.dataset.leave)) return
      await drafts('readwrite', store => store.clear())
    }
    forget(() => true)
    form.submit()
  })
}

// The session ended elsewhere, or by time: the till's customer, cart and last sale go.
if (document.querySelector('[data-ended]')) forget(name => name.startsWith('till '))
