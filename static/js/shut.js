// The page of an event that is not on sale. It loads itself anew when it is, and a crowd of them not in one moment.

const {opens, now, status} = document.body.dataset

if (document.querySelector('#tray')) import('usher/hold').then(hold => hold.start())

const most = 24 * 3600e3
let left = Number(opens) - Number(now) + Math.random() * 1500
function wait() {
  const step = Math.min(left, most)
  left -= step
  setTimeout(() => left > 0 ? wait() : location.reload(), step)
}

// look asks whether the sale goes on.
async function look() {
  try {
    const answer = await fetch(location.href, {headers: {Accept: 'application/json'}})
    if (answer.ok && (await answer.json()).status !== status) location.reload()
  } catch {} // there is another look
}

if (opens) wait()
else if (status === 'paused') setInterval(() => document.hidden || look(), 20e3 + Math.random() * 10e3)
