// What every part of the page needs: its facts and money.

import {T, number} from 'usher/text'

export {T, number}
export const data = document.body.dataset
export const path = `/events/${data.slug}`
export const $ = (selector, root = document) => root.querySelector(selector)
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)]
export const calm = /* @__PURE__ */ matchMedia('(prefers-reduced-motion: reduce)')

// locale is the page's language for dates, as the server writes them: British ones in English, and Western digits.
export const locale = () => document.documentElement.lang === 'en' ? 'en-GB' : `${document.documentElement.lang}-u-nu-latn`

// money writes minor units of the event's currency, as the server does, which says how: "€%s".
export function money(minor) {
  const digits = data.decimals ?? 2, unit = 10 ** digits
  return data.money.replace('%s', number(Math.floor(minor / unit)) + (minor % unit ? T('.') + `${minor % unit}`.padStart(digits, 0) : ''))
}
export const price = minor => minor ? money(minor) : T('no charge')

// floored is a query with the floor of the map that the address names.
export function floored(search) {
  const q = new URLSearchParams(search), floor = new URLSearchParams(location.search).get('floor')
  if (floor) q.set('floor', floor)
  return q.size ? `?${q}` : ''
}

// span is a length of time as "7:42".
export function span(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(s / 60)}:${`${s % 60}`.padStart(2, 0)}`
}

// countdown writes the time that is left as a page says it: "%s left".
export function countdown(ms) {
  const at = $('[data-countdown]')
  at.textContent = at.dataset.countdown.replace('%s', span(ms))
}

let clearing
// say puts one sentence on the status line, which screen readers read out. What stands elsewhere on the page is only heard.
export function say(text, seen = true) {
  const status = $('#status')
  status.classList.toggle('heard', !seen)
  const sentence = document.createElement('span') // each its own: one that grows would count as a jump of the page
  sentence.textContent = text
  status.replaceChildren(sentence)
  clearTimeout(clearing)
  clearing = setTimeout(() => status.replaceChildren(), 7000)
}

export function key() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map(n => n.toString(36)).join('')
}
