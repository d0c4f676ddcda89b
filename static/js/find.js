// Places for a party: its form asks for them, the page shows them as options, and the map frames them. Nothing is held until one
// is claimed.

const ROOM = 4 // seats to see around the options, at least
const EDGE = .1 // of their extent, for their numbers
const CLOSE = 34 // px between two seats, at most, when options come into view

const $ = selector => document.querySelector(selector)
const $$ = selector => [...document.querySelectorAll(selector)]

export function start(stage) {
  const {house, view, painter, hold} = stage, {live} = painter
  let options = []

  document.addEventListener('submit', async event => {
    const form = event.target
    if (!form.matches('[data-find]')) return
    event.preventDefault()
    const q = new URLSearchParams(new FormData(form, event.submitter))
    if ($('[data-accessible] [aria-current]')) q.set('accessible', 1)
    const address = `${form.action.split('#')[0]}?${q}`, answer = await fetch(address, {headers: {'Usher-Fragment': '1'}}).catch(() => {})
    if (!answer?.ok || answer.redirected) return location.assign(address)
    clear()
    $('.best > form').insertAdjacentHTML('afterend', await answer.text())
    show()
    const legend = $('#options legend')
    legend.focus({preventScroll: true})
    legend.closest('fieldset').scrollIntoView({block: 'nearest'})
  })

  const floorOf = ({seats}) => house.sections[house.section[seats[0]]].floor ?? 0

  // show frames the options that the page has.
  function show() {
    options = $$('#options input[name=proposal]').map(input => ({input, seats: input.value.split(' ').map(Number)}))
    const seats = options.flatMap(o => o.seats)
    stage.frame.dispatchEvent(new CustomEvent('found', {detail: seats.length > 0, bubbles: true}))
    if (!seats.length) return stage.redraw()
    stage.climb(floorOf(options.find(o => o.input.checked) ?? options[0]))
    const xs = seats.map(idx => house.x[idx]), ys = seats.map(idx => house.y[idx]), {pitch} = house.sections[house.section[seats[0]]]
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys)
    const room = Math.max(pitch * ROOM, EDGE * Math.max(right - left, bottom - top))
    view.show({left: left - room, right: right + room, top: top - room, bottom: bottom + room}, CLOSE / pitch)
    stage.redraw()
  }

  function clear() {
    $('#options')?.remove()
    $('.others')?.remove()
    options = []
    stage.redraw()
  }

  // choose takes the option that a seat on the map belongs to.
  stage.choose = idx => {
    const option = options.find(o => o.seats.includes(idx) && !o.input.disabled)
    if (option) {
      option.input.checked = true
      stage.redraw()
    }
    return option
  }
  document.addEventListener('change', event => {
    if (event.target.name !== 'proposal') return
    stage.climb(floorOf(options.find(o => o.input === event.target)))
    stage.redraw()
  })

  live.addEventListener('change', () => {
    for (const {input, seats} of options) {
      input.disabled = seats.some(idx => live.states[idx])
      input.parentNode.classList.toggle('off', input.disabled)
      if (input.disabled && input.checked) (options.find(o => !o.input.disabled)?.input ?? input).checked = true
    }
  })
  hold.addEventListener('placed', clear)
  stage.addEventListener('draw', draw)

  function draw() {
    if (!options.length) return
    const g = painter.above, css = getComputedStyle(document.documentElement), colour = name => css.getPropertyValue(`--${name}`).trim()
    painter.marked = true
    g.setTransform(view.ratio, 0, 0, view.ratio, 0, 0)
    g.lineCap = g.lineJoin = 'round'
    options.forEach(({input, seats}, i) => {
      if (!house.here(house.sections[house.section[seats[0]]])) return
      const at = seats.map(stage.place, stage), r = Math.max(4, house.sections[house.section[seats[0]]].pitch * view.scale * .4)
      const line = (width, how, style) => {
        g.globalCompositeOperation = how
        g.strokeStyle = style
        g.lineWidth = width
        g.beginPath()
        at.forEach(([x, y], i) => i ? g.lineTo(x, y) : g.moveTo(x, y))
        if (at.length === 1) g.lineTo(at[0][0] + .1, at[0][1])
        g.stroke()
      }
      const fill = colour(input.checked ? 'accent' : 'text')
      line(r * 2 + (input.checked ? 12 : 9), 'source-over', fill)
      line(r * 2 + 4, 'destination-out', '#000')
      g.globalCompositeOperation = 'source-over'
      const [x, y] = at[0], size = 12
      g.fillStyle = fill
      g.beginPath()
      g.arc(x - r - 8, y - r - 6, size, 0, 7)
      g.fill()
      g.fillStyle = colour(input.checked ? 'on-accent' : 'bg')
      g.font = '700 13px Instrument, sans-serif'
      g.textAlign = 'center'
      g.textBaseline = 'middle'
      g.fillText(i + 1, x - r - 8, y - r - 5.5)
    })
  }

  if ($('#options')) show() // the page came with them
}
