// A push subscription of this browser, for people who ask to be told when it is their turn.

import {T} from 'usher/text'

// subscribe asks for permission, and sends the subscription to the address of the button's form. It writes what went wrong
// beside the button.
export async function subscribe(button) {
  const said = button.parentElement.querySelector('[role=status]')
  const fail = message => { said.textContent = message }
  button.disabled = true
  try {
    if (await Notification.requestPermission() !== 'granted') return fail(T('Your browser doesn’t allow notifications from this site. You can allow them in its settings.'))
    await navigator.serviceWorker.register('/push.js')
    const {pushManager} = await navigator.serviceWorker.ready
    const {endpoint, keys} = (await subscription(pushManager, button.dataset.push)).toJSON()
    const answer = await fetch(button.dataset.to, {method: 'POST', headers: {Accept: 'application/json'}, body: new URLSearchParams({endpoint, ...keys})})
    if (answer.ok) return location.reload()
    fail((await answer.json()).error.message)
  } catch (error) {
    console.warn(error)
    fail(T('That didn’t work. Try again.'))
  } finally {
    button.disabled = false
  }
}

// subscription is the one that this browser has for the box office. One with another key is of a box office before this one.
async function subscription(pushManager, key) {
  const options = {userVisibleOnly: true, applicationServerKey: Uint8Array.from(atob(key.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt())}
  try {
    return await pushManager.subscribe(options)
  } catch (error) {
    const other = await pushManager.getSubscription()
    if (!other) throw error
    await other.unsubscribe()
    return pushManager.subscribe(options)
  }
}
