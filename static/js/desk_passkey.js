// Passkeys of the desk. Passwords: a button shows what was typed.

import {T} from 'usher/text'
import {create, offer, use} from 'usher/passkey'

for (const button of document.querySelectorAll('[data-show]')) {
  const field = button.parentElement.querySelector('input')
  const set = shown => {
    field.type = shown ? 'text' : 'password'
    button.textContent = shown ? T('Hide') : T('Show')
    button.setAttribute('aria-pressed', shown)
  }
  button.hidden = false
  button.addEventListener('click', () => set(field.type === 'password'))
  field.form.addEventListener('submit', () => set(false))
}

offer({
  add: form => create(form, '/desk/account/passkeys'),
  'sign-in': form => use(form, '/desk/session/options', '/desk/session/passkey'),
  prove: form => use(form, '/desk/session/options', '/desk/session/proof/passkey'),
})
