// The list of performances at the till: found by words or arrow keys, with how many seats are free.

import {$, $$, data, number} from 'usher/page'
import {T} from 'usher/text'

export class Shows {
  #dialog
  #find
  #links
  #at = 0

  constructor(dialog) {
    this.#dialog = dialog
    this.#find = $('[data-find]', dialog)
    this.#links = $$('a', dialog)
    this.#find.addEventListener('input', () => this.#filter())
  }

  isOpen() { return this.#dialog.open }

  // open shows the list at once, and brings what is free up to date.
  async open() {
    this.#find.value = ''
    this.#dialog.showModal()
    this.#filter()
    this.#mark(this.#seen().findIndex(a => a.ariaCurrent === 'page'))
    this.#find.focus()
    const answer = await fetch(`${data.desk}/till`, {headers: {Accept: 'application/json'}}).catch(() => ({}))
    if (!answer.ok) return
    const free = new Map((await answer.json()).performances.map(p => [p.slug, p.free]))
    for (const a of this.#links) {
      const left = free.get(a.dataset.event)
      if (left !== undefined) $('[data-left]', a).textContent = left ? T('%s available', number(left)) : T('Sold out')
    }
  }

  // inside says how many tickets of each performance are in the cart.
  inside(counts) {
    for (const a of this.#links) {
      const mark = $('[data-inside]', a), n = counts[a.dataset.event]
      mark.hidden = !n
      mark.textContent = n ? T('%d in the cart', n) : ''
    }
  }

  #seen() { return this.#links.filter(a => !a.parentElement.hidden) }

  #filter() {
    const wanted = this.#find.value.toLowerCase().split(' ').filter(Boolean)
    for (const a of this.#links) a.parentElement.hidden = !wanted.every(w => a.textContent.toLowerCase().includes(w))
    $('[data-none]', this.#dialog).hidden = this.#seen().length > 0
    this.#mark(0)
  }

  #mark(at) {
    const seen = this.#seen()
    this.#at = Math.max(0, Math.min(at, seen.length - 1))
    for (const a of this.#links) a.classList.toggle('marked', a === seen[this.#at])
    seen[this.#at]?.scrollIntoView({block: 'nearest'})
  }

  keydown(event) {
    if (event.isComposing) return
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key]
    if (step) {
      event.preventDefault()
      this.#mark(this.#at + step)
    } else if (event.key === 'Enter' && event.target === this.#find) {
      event.preventDefault()
      this.#seen()[this.#at]?.click()
    } else if (event.key === 'F2') {
      event.preventDefault()
      this.#dialog.close()
    }
  }
}
