// A member or an attendee who signs out leaves nothing of theirs in this browser: neither what a tab keeps, such as names at the till or
// at a checkout, nor drawings of the plan editor that were not saved. What a door has yet to send stays: it would be lost (door.js).

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

for (const form of document.querySelectorAll('[data-leave]')) {
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (form.dataset.leave && await drafts('readonly', store => store.count())) { // a member's
      if (!confirm(form.dataset.leave)) return
      await drafts('readwrite', store => store.clear())
    }
    sessionStorage.clear()
    form.submit()
  })
}

// The session ended elsewhere, or by time: the till's customer, cart and last sale go, and not a sale that waits for its answer.
if (document.querySelector('[data-ended]')) {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith('till ') && !name.endsWith(' sent')) sessionStorage.removeItem(name)
}
