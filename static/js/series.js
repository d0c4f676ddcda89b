// The page of a series. Its calendar says what is left: it is read anew while the page is shown.

const dates = document.querySelector('#dates')

async function look() {
  try {
    const answer = await fetch(location.href, {headers: {'Usher-Fragment': 'dates'}})
    if (!answer.ok) return
    const fresh = document.createElement('div'), here = document.activeElement?.getAttribute('href')
    fresh.innerHTML = await answer.text()
    if (fresh.innerHTML === dates.innerHTML) return
    dates.replaceChildren(...fresh.childNodes)
    if (here) dates.querySelector(`a[href="${here}"]`)?.focus()
  } catch {} // there is another look
}

if (dates) setInterval(() => document.hidden || look(), 8e3 + Math.random() * 4e3)
