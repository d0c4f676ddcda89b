// A sale at a card reader: how it stands is asked until it is sold or failed.

const EVERY = 1200, DEADLINE = 15000 // ms between two questions, and that an answer may take

// look asks once; undefined if there was no answer.
async function look(path) {
  const answer = await fetch(path, {headers: {Accept: 'application/json'}, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE)}).catch(() => ({}))
  return answer.ok ? (await answer.json().catch(() => ({}))).payment : undefined
}

// underWay reports whether a payment may still be sold.
export const underWay = state => state === 'waiting' || state === 'ending'

// watch asks how a payment stands, again and again, and tells each answer. It ends with the last one, or once left says so.
export async function watch(path, told, left = () => false) {
  for (let misses = 0; !left();) {
    const payment = await look(path)
    misses = payment ? 0 : misses + 1
    if (payment) told(payment)
    if (payment && !underWay(payment.state)) return payment
    await new Promise(go => { setTimeout(go, EVERY * Math.min(2 ** misses, 8)) })
  }
  return undefined
}
