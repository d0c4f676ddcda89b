// What was drawn and not saved is kept in this browser, so that a closed tab loses nothing.

const NAME = 'usher-plans', DRAFTS = 'drafts'

// open is the browser's own database; undefined where it keeps none, as in some private windows.
const opened = new Promise(answer => {
  try {
    const request = indexedDB.open(NAME, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(DRAFTS)
    request.onsuccess = () => answer(request.result)
    request.onerror = () => answer(undefined)
  } catch {
    answer(undefined)
  }
})

async function ask(mode, does) {
  const db = await opened
  if (!db) return
  return new Promise((answer, refuse) => {
    const request = does(db.transaction(DRAFTS, mode).objectStore(DRAFTS))
    request.onsuccess = () => answer(request.result)
    request.onerror = () => refuse(request.error)
  })
}

// A draft is {version, at, document}: the version it was drawn from, when, and what.
export const readDraft = plan => ask('readonly', store => store.get(plan)).catch(() => undefined)
export const keepDraft = (plan, draft) => ask('readwrite', store => store.put(draft, plan)).catch(() => undefined)
export const dropDraft = plan => ask('readwrite', store => store.delete(plan)).catch(() => undefined)
