// The big screen of an arena: it is loaded anew each second or two. Without this the page is as true as when it was loaded.

import {T} from 'usher/text'

const EVERY = 1000
const button = document.querySelector('[data-still]')
let still = false

// show puts the figures of a newer page in the place of the ones that are shown. What a reader has focused or selected stays.
function show(html) {
  const template = document.createElement('template')
  template.innerHTML = html
  const fresh = template.content.querySelector('#arena')
  const old = document.querySelector('#arena')
  if (!fresh || old.contains(document.activeElement) || old.querySelector(':active') || !getSelection().isCollapsed) return
  const scrolled = [...old.querySelectorAll('.scroll')].map(box => box.scrollLeft)
  old.replaceWith(fresh)
  document.querySelectorAll('#arena .scroll').forEach((box, i) => { box.scrollLeft = scrolled[i] ?? 0 })
}

async function run() {
  for (let misses = 0; ;) {
    await new Promise(go => { setTimeout(go, EVERY * (1 + Math.random()) * 2 ** Math.min(misses, 4)) })
    if (still || document.hidden) continue
    const answer = await fetch(location.href, {headers: {Accept: 'text/html'}, cache: 'no-store'}).catch(() => ({}))
    misses = answer.ok ? 0 : misses + 1
    if (answer.ok && !still) show(await answer.text().catch(() => ''))
  }
}

button.addEventListener('click', () => {
  still = !still
  button.textContent = still ? T('Resume updates') : T('Pause updates')
})
button.hidden = false
run()
