// The sheet that lies over the map on phones: low, half as high as the page, or as high as it. Its handle is a button, and may
// be dragged; Escape makes it lower.

const HEIGHTS = ['low', 'half', 'full']
const STILL = 6 // px of travel below which a press is a tap
const AWAY = 30 // px of travel on the map from which its visitor wants to see more of it

const $ = selector => document.querySelector(selector)
const narrow = matchMedia('(max-width: 60rem) and (min-height: 32.01rem)')

export function start(hold) {
  const sheet = $('.drawer'), handle = $('.handle'), panel = $('.panel'), message = $('#message'), map = $('#map')
  let from, travel = 0, dragged = false
  const now = () => HEIGHTS.indexOf(sheet.dataset.height ?? 'half')

  function set(height) {
    sheet.style.height = ''
    sheet.dataset.height = HEIGHTS[height]
    handle.ariaExpanded = String(height > 0)
  }

  // nearest is the height that is closest to what a finger made of it.
  function nearest() {
    const is = sheet.offsetHeight, all = sheet.parentNode.offsetHeight, low = $('#tray').offsetHeight + handle.offsetHeight
    const far = [low, Math.max(all * .46, low), all].map(height => Math.abs(height - is))
    return far.indexOf(Math.min(...far))
  }

  handle.addEventListener('click', () => {
    if (!dragged) set(now() === 2 ? 0 : now() + 1)
    dragged = false
  })
  handle.addEventListener('pointerdown', event => {
    handle.setPointerCapture(event.pointerId)
    from = {y: event.clientY, height: sheet.offsetHeight}
    dragged = false
  })
  handle.addEventListener('pointermove', event => {
    if (!from || !dragged && Math.abs(event.clientY - from.y) < STILL) return
    dragged = true
    sheet.classList.add('dragged')
    sheet.style.height = `${from.height + from.y - event.clientY}px`
  })
  const end = () => {
    if (dragged) set(nearest())
    sheet.classList.remove('dragged')
    from = undefined
  }
  handle.addEventListener('pointerup', end)
  handle.addEventListener('pointercancel', end)

  sheet.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !narrow.matches || now() === 0) return
    set(now() - 1)
    if (now() === 0 && panel.contains(document.activeElement)) handle.focus()
  })
  // What has the focus is not hidden.
  sheet.addEventListener('focusin', event => { if (now() === 0 && panel.contains(event.target)) set(1) })

  map.addEventListener('pointerdown', event => { travel = event.target.tagName === 'CANVAS' ? 1 : 0; from = undefined })
  map.addEventListener('pointermove', event => { if (event.buttons && travel) travel += Math.hypot(event.movementX, event.movementY) })
  map.addEventListener('pointerup', () => { if (travel > AWAY && narrow.matches) set(0) })
  map.addEventListener('section', ({detail: area}) => set(area ? 1 : Math.min(now(), 1)))
  map.addEventListener('found', () => set(1))
  hold.addEventListener('placed', () => { if (narrow.matches) set(0) })
  new MutationObserver(() => { if (!message.hidden && now() === 0) set(1) }).observe(message, {attributes: true, attributeFilter: ['hidden']})

  // The foot of the page has no room of its own below a sheet.
  const foot = $('body > footer'), place = () => narrow.matches ? panel.append(foot) : document.body.insertBefore(foot, $('#status'))
  if (foot) {
    place()
    narrow.addEventListener('change', place)
  }
}
