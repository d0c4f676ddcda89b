// Who came, and the devices at the door: the parts that change are taken from a fresh copy of the page.

const PACE = 4000 // ms
let mark = '' // of the copy that is shown whole; the server sends no other one until it changes

async function renew() {
  if (document.hidden) return
  const answer = await fetch(location.pathname, {headers: {Accept: 'text/html', 'If-None-Match': mark}, signal: AbortSignal.timeout(PACE)})
  if (!answer.ok || answer.redirected) return // it did not change, or there is none
  let whole = true
  const body = (await answer.text()).split('</head>').at(-1) // the styles of its head are not for this page
  const copy = new DOMParser().parseFromString(body, 'text/html')
  for (const id of ['turnout', 'conflicts', 'devices']) {
    const was = document.getElementById(id), is = copy.getElementById(id)
    if (!is || !was || was.innerHTML === is.innerHTML) continue
    if (was.contains(document.activeElement)) whole = false // another time
    else was.replaceWith(is)
  }
  mark = whole && answer.headers.get('etag') || ''
}
setInterval(() => renew().catch(() => {}), PACE) // without a connection the page is as true as it was
