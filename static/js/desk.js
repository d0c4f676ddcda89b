// The live desk: parts of the page are replaced as its feed brings them. Without this the page is as true as when it was
// loaded.

import {start as startMap} from 'usher/desk_map'
import {replace} from 'usher/desk_part'
import {$, data} from 'usher/page'
import {T} from 'usher/text'

const SILENCE = 25000 // ms without a word after which the desk is behind; the feed says something each 10 s
const REST = 30000 // ms a hidden page keeps its feed: browsers have few connections
const AGAIN = 1000

const state = $('[data-feed-state]')
let feed, last = state?.textContent.match(/\d+:\d+:\d+/)?.[0] ?? '', silence, resting, retry, still = sessionStorage.getItem('usher paused') !== null

function tell(word) {
  data.feedState = word
  const said = {live: T('Live, as of %s', last), behind: T('Out of date: the last update came at %s. Trying again.', last), late: T('Out of date: the last update is of %s.', last), paused: T('Paused at %s', last)}
  if (state) state.firstElementChild.textContent = said[word]
}

// hush notices when the feed says nothing any more.
function hush() {
  clearTimeout(silence)
  silence = setTimeout(() => {
    close()
    tell('behind')
    later()
  }, SILENCE)
}

function close() {
  feed?.close()
  feed = undefined
  clearTimeout(silence)
}

function later() {
  clearTimeout(retry)
  retry = setTimeout(open, AGAIN * (1 + 2 * Math.random()))
}

function open() {
  if (feed || still || !data.feed) return
  const mine = feed = new EventSource(data.feed)
  mine.onmessage = event => {
    const news = JSON.parse(event.data)
    last = news.at || last
    for (const [id, html] of Object.entries(news.parts ?? {})) replace(id, html)
    tell(news.late ? 'late' : 'live')
    hush()
  }
  mine.onerror = () => {
    if (mine !== feed || mine.readyState !== EventSource.CLOSED) return // it opens itself again, or says nothing for too long
    close() // it was refused: the page says why
    tell('behind')
    later()
  }
  hush()
}

// A hidden page lets its feed go after a while.
document.addEventListener('visibilitychange', () => {
  clearTimeout(resting)
  if (document.hidden) {
    resting = setTimeout(close, REST)
    return
  }
  if (!still) open()
})
addEventListener('pageshow', event => { if (event.persisted) open() })
addEventListener('online', open)

// pauseButton lets everything stand still, the map as well.
function pauseButton() {
  const button = $('[data-still]')
  if (!button) return
  const name = () => { button.textContent = still ? T('Resume updates') : T('Pause updates') }
  button.addEventListener('click', () => {
    still = !still
    name()
    $('[data-pause]')?.click()
    if (!still) return open()
    close()
    clearTimeout(retry)
    tell('paused')
  })
  name()
  button.hidden = false
  if (still) tell('paused')
}

// A form that is sent says so, so that it is not pressed twice.
document.addEventListener('submit', event => event.target.querySelector('button')?.setAttribute('aria-busy', 'true'))

document.body.classList.add('scripted')
pauseButton()
open()
startMap().catch(console.error) // without its picture the desk is still whole
