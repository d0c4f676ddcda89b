// Passkeys: the forms with data-passkey appear where the browser has them, and ask it for one.

import {T} from 'usher/text'

const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0))
const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')

const post = async (path, body) => {
  const answer = await fetch(path, {method: 'POST', headers: {'Content-Type': 'application/json', Accept: 'application/json'}, body: JSON.stringify(body)})
  const said = await answer.json()
  if (!answer.ok) throw new Error(said.error.message)
  return said
}

const named = list => list?.map(one => ({...one, id: bytes(one.id)}))

const whole = one => ({id: one.id, rawId: text(one.rawId), type: one.type, clientExtensionResults: one.getClientExtensionResults()})

// create makes a passkey with the name in the form. The site says at path/options what it wants, and takes it at path.
export const create = async (form, path) => {
  const {publicKey: o} = await post(path + '/options', {})
  const made = await navigator.credentials.create({publicKey: {...o, challenge: bytes(o.challenge), user: {...o.user, id: bytes(o.user.id)}, excludeCredentials: named(o.excludeCredentials)}})
  const r = made.response
  return post(path, {name: form.elements.name.value, answer: {
    ...whole(made), response: {clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject), transports: r.getTransports?.() ?? []},
  }})
}

// use asks for a passkey as options says, and shows it at path: to sign in, or as a proof before a change.
export const use = async (form, options, path) => {
  const {publicKey: o} = await post(options, {})
  const used = await navigator.credentials.get({publicKey: {...o, challenge: bytes(o.challenge), allowCredentials: named(o.allowCredentials)}})
  const r = used.response
  return post(path, {to: form.dataset.to, answer: {
    ...whole(used), response: {clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature), userHandle: r.userHandle && text(r.userHandle)},
  }})
}

// What a browser says when it could not: its own words are for programmers.
const words = error => ({
  NotAllowedError: T('No passkey was used. Try again when you are ready.'),
  InvalidStateError: T('This device has a passkey for this account already.'),
}[error.name] ?? error.message)

// offer shows the forms. done has what each kind of form does, and its answer says where to go then.
export const offer = done => {
  for (const form of window.PublicKeyCredential ? document.querySelectorAll('[data-passkey]') : []) {
    const wrong = form.querySelector('[data-wrong]'), button = form.querySelector('button')
    form.hidden = false
    form.addEventListener('submit', async event => {
      event.preventDefault()
      button.setAttribute('aria-busy', 'true')
      wrong.hidden = true
      try {
        const {to} = await done[form.dataset.passkey](form), kept = document.getElementById('kept')
        kept ? HTMLFormElement.prototype.submit.call(kept) : location.assign(to) // a form that needed proof goes on
      } catch (error) {
        wrong.textContent = words(error)
        wrong.hidden = false
        button.removeAttribute('aria-busy')
      }
    })
  }
}
