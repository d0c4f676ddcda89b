// Parts of a page at the desk that new ones replace, while it is read and used.

import {$$} from 'usher/page'

const waiting = new Map() // parts that are being pressed or read

// replace puts a part of the page in the place of the one before, and leaves the reader where they were.
export function replace(id, html) {
  const old = document.getElementById(id)
  if (!old) return
  if (old.querySelector(':active')) return waiting.set(id, html)
  waiting.delete(id)
  const template = document.createElement('template')
  template.innerHTML = html
  const fresh = template.content.firstElementChild
  for (const was of $$('details[open]', old)) fresh.querySelector(`#${CSS.escape(was.id)}`)?.setAttribute('open', '')
  const lefts = $$('.scroll', old).map(box => box.scrollLeft), focused = old.contains(document.activeElement) ? document.activeElement : undefined
  const name = focused && wordsOf(focused)
  old.replaceWith(fresh)
  $$('.scroll', fresh).forEach((box, i) => { box.scrollLeft = lefts[i] ?? 0 })
  if (focused) $$(focused.localName, fresh).find(at => wordsOf(at) === name)?.focus({preventScroll: true})
}

// wordsOf is what an element is called; numbers of a summary change and are no part of that.
const wordsOf = at => at.ariaLabel || at.textContent.replace(/\d+/g, '').trim()

addEventListener('pointerup', () => setTimeout(() => { for (const [id, html] of waiting) replace(id, html) }))
