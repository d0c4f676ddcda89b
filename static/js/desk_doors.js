// Who came, and the devices at the door: the parts that change are taken from a fresh copy of the page.

const PACE = 4000 // ms

async function renew() {
  if (document.hidden) return
  const answer = await fetch(location.pathname, {headers: {Accept: 'text/html'}, signal: AbortSignal.timeout(PACE)})
  if (!answer.ok || answer.redirected) return
  const body = (await answer.text()).split('</head>').at(-1) // the styles of its head are not for this page
  const copy = new DOMParser().parseFromString(body, 'text/html')
  for (const id of ['turnout', 'conflicts', 'devices']) {
    const was = document.getElementById(id), is = copy.getElementById(id)
    if (is && was && !was.contains(document.activeElement) && was.innerHTML !== is.innerHTML) was.replaceWith(is)
  }
}
setInterval(() => renew().catch(() => {}), PACE) // without a connection the page is as true as it was
