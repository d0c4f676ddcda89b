// The page of an event that is not on sale. It loads itself anew when it is, and a crowd of them not in one moment.

const {opens, now, status} = document.body.dataset

if (document.querySelector('#tray')) import('usher/hold').then(hold => hold.start())

const due = Date.now() + Number(opens) - Number(now) + Math.random() * 1500
let timer

// wait loads the page once it is time. Timers stand still on a machine that sleeps, so it looks at the clock each minute at least.
function wait() {
  clearTimeout(timer)
  const left = due - Date.now()
  if (left <= 0 && navigator.onLine) location.reload()
  else timer = setTimeout(wait, Math.max(1e3, Math.min(left, 60e3)))
}

// look asks whether the sale goes on.
async function look() {
  try {
    const answer = await fetch(location.href, {headers: {Accept: 'application/json'}})
    if (answer.ok && (await answer.json()).status !== status) location.reload()
  } catch {} // there is another look
}

if (opens) {
  wait()
  document.addEventListener('visibilitychange', wait)
} else if (status === 'paused') setInterval(() => document.hidden || look(), 20e3 + Math.random() * 10e3)
