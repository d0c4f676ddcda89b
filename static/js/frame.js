// A page in a frame on an organizer's site: it tells the page around it how high it is, and opens what is not shown in
// frames in a tab of its own. handlers/routes.go says which pages may be framed.

const inside = /^\/(events\/[^/]+(\/(embed|map|sections\/[^/]+|proposals|hold|challenge|waitlist|checkout))?|series\/[^/]+(\/embed)?|(orders|payments)\/[^/]+)$/

document.addEventListener('click', event => {
  const link = event.target.closest?.('a[href]'), to = link && new URL(link.getAttribute('href'), location)
  if (!link || to.origin === location.origin && inside.test(to.pathname)) return
  link.setAttribute('target', '_blank')
  link.setAttribute('rel', 'noopener')
}, true)

// A page with a map is as high as its frame. The height is no secret, and the sites that may hear it are those of the team.
const tell = usher => parent.postMessage({usher, height: document.querySelector('#map') ? 0 : Math.ceil(document.body.getBoundingClientRect().height)}, '*')

if (parent !== window) {
  tell('page')
  new ResizeObserver(() => tell('height')).observe(document.body)
}
