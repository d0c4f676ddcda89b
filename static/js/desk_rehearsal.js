// The page of a rehearsal that is under way: its figures are read again until it is over. Then the page is loaded again.

const EVERY = 2000

async function look() {
  const answer = await fetch(location.pathname, {headers: {Accept: 'text/html'}, cache: 'no-store'}).catch(() => ({}))
  if (!answer.ok) return
  const page = (await answer.text()).replace(/<style[^]*?<\/style>/g, '') // the nonce of this page is another one
  const now = new DOMParser().parseFromString(page, 'text/html').querySelector('[data-under]')
  if (now) document.querySelector('[data-under]').replaceWith(now)
  else location.replace(location.pathname)
}

const again = () => setTimeout(() => look().finally(again), EVERY)

again()
