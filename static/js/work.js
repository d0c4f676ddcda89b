// The work that a waiting room may ask of a browser before it joins: ALTCHA's solver does it, in some workers beside the page.

import {T} from 'usher/text'

const most = 4 // workers; a phone is to stay cool

// join works and puts the solution into the form of a visitor who joins.
export async function join(form, room) {
  form.querySelector('button').disabled = true
  form.querySelector('[data-work]').textContent = T('Your browser is at work. You join in a few seconds.')
  const answer = await fetch(`${room}/work`, {headers: {Accept: 'application/json'}})
  if (answer.status !== 200) return // none is asked for any more
  const challenge = await answer.json()
  form.proof.value = btoa(JSON.stringify({challenge, solution: await solve(challenge)}))
}

// pass does the work that an event asks of a visitor, who gets a cookie for it.
export async function pass(event) {
  const at = `${event}/challenge`, headers = {Accept: 'application/json', 'Content-Type': 'application/json'}
  const challenge = await (await fetch(at, {headers})).json()
  const proof = btoa(JSON.stringify({challenge, solution: await solve(challenge)}))
  const answer = await fetch(at, {method: 'POST', headers, body: JSON.stringify({proof})})
  if (!answer.ok) throw new Error(answer.status)
}

async function solve(challenge) {
  const counterStep = Math.min(most, navigator.hardwareConcurrency || 1)
  const workers = Array.from({length: counterStep}, () => new Worker(import.meta.resolve('usher/altcha')))
  try {
    const {counter, derivedKey} = await Promise.race(workers.map((worker, counterStart) => new Promise((found, failed) => {
      worker.onmessage = ({data}) => data?.derivedKey ? found(data) : failed(data?.error)
      worker.onerror = failed
      worker.postMessage({type: 'work', challenge, counterStart, counterStep})
    })))
    return {counter, derivedKey}
  } finally {
    workers.forEach(worker => worker.terminate())
  }
}
