// The dialog of the till while a card reader waits for a card.

import {$, money} from 'usher/page'
import {watch} from 'usher/reader'
import {T} from 'usher/text'

export class AtReader {
  #dialog
  #path
  #key
  #leave // the seller does not wait until the reader has stopped

  constructor(dialog) {
    this.#dialog = dialog
    for (const button of ['cancel', 'leave']) $(`[data-reader-${button}]`, dialog).addEventListener('click', () => this.#cancel())
    dialog.addEventListener('cancel', event => { // Escape
      event.preventDefault()
      this.#cancel()
    })
  }

  isOpen() { return this.#dialog.open }

  // wait shows a payment until it is sold or failed, and returns it then.
  async wait(payment) {
    this.#path = `/desk/till/payments/${payment.code}`
    this.#key = `cancel ${payment.code}`
    $('[data-reader-amount]', this.#dialog).textContent = money(payment.amount)
    this.#show(payment)
    this.#dialog.showModal()
    this.#dialog.focus() // and not its button: a second Enter must not cancel
    let gone = false
    const left = new Promise(go => { this.#leave = go }).then(() => ({state: 'failed', reason: T('The sale was cancelled. If a card was charged, its money goes back.')}))
    try {
      return await Promise.race([watch(this.#path, p => gone || this.#show(p), () => gone), left])
    } finally {
      gone = true
      this.#dialog.close()
    }
  }

  #show({state, label}) {
    this.#dialog.dataset.state = state
    $('[data-reader-says]', this.#dialog).textContent = state === 'ending' ? T('The reader is told to stop. If a card is in it, this takes a few seconds.') : T('Waiting for a card at “%s”. The seats are held meanwhile.', label)
    $('[data-reader-cancel]', this.#dialog).hidden = state === 'ending'
    $('[data-reader-leave]', this.#dialog).hidden = state !== 'ending'
  }

  // #cancel has the sale cancelled, also one whose time is over: else a card that is charged now would buy the seats. Only then the
  // seller may leave while the reader stops.
  async #cancel() {
    const button = $('[data-reader-cancel]', this.#dialog)
    if (button.disabled) return
    const ending = this.#dialog.dataset.state === 'ending'
    button.disabled = true
    const answer = await fetch(`${this.#path}/cancellation`, {
      method: 'POST', headers: {Accept: 'application/json', 'Content-Type': 'application/json'}, body: JSON.stringify({key: this.#key}),
    }).catch(() => ({}))
    button.disabled = false
    if (!answer.ok) return
    const {payment} = await answer.json()
    this.#show(payment)
    if (ending && payment.state === 'ending') this.#leave()
  }
}
