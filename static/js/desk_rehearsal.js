// The page of a rehearsal that is under way: its figures and the seats of the copy are read again until it is over. Then the page is
// loaded again, as it is when the first look at the copy comes.

import {start as startMap} from 'usher/desk_map'
import {replace} from 'usher/desk_part'
import {live} from 'usher/live'
import {$$} from 'usher/page'
import {T} from 'usher/text'
import {decode} from 'usher/wire'

const EVERY = 2000
const PARTS = '#under, .live > [id]:not(#live-map)' // the map adds some without

const ask = (address, accept) => fetch(address, {headers: {Accept: accept}, cache: 'no-store'}).catch(() => ({}))

async function look() {
  const answer = await ask(location.href, 'text/html')
  if (!answer.ok) return
  const page = (await answer.text()).replace(/<style[^]*?<\/style>/g, '') // the nonce of this page is another one
  if (still) return // since it was asked for
  const now = new DOMParser().parseFromString(page, 'text/html').querySelectorAll(PARTS), old = $$(PARTS)
  if (now.length !== old.length) return location.reload()
  now.forEach(part => replace(part.id, part.outerHTML))
  await seats()
}

async function seats() {
  if (!document.querySelector('#live-map')) return
  const answer = await ask(`${location.pathname}/map.bin`, 'application/octet-stream')
  if (answer.status === 200 && !still) live.replace(decode(await answer.arrayBuffer()))
}

// A reader may let the page stand still. The rehearsal goes on.
let still = false
for (const button of $$('[data-still]')) { // there is none once it is being stopped
  button.addEventListener('click', () => {
    still = !still
    button.textContent = still ? T('Resume updates') : T('Pause updates')
  })
  button.hidden = false
}

async function follow() {
  if (!still) await look().catch(console.error)
  setTimeout(follow, EVERY)
}

setTimeout(follow, EVERY)
await startMap()
await seats()
