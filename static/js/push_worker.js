// Shows what a push message says, and opens its page when it is pressed. It keeps nothing and answers no request.

self.addEventListener('push', event => {
  const {title, body, url, lang, dir} = event.data.json()
  event.waitUntil(self.registration.showNotification(title, {body, lang, dir, tag: url, data: url, requireInteraction: true})) // one that comes twice is shown once
})

self.addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(open(event.notification.data))
})

async function open(url) {
  const pages = await self.clients.matchAll({type: 'window', includeUncontrolled: true})
  const page = pages.find(page => new URL(page.url).pathname === url)
  return page ? page.focus() : self.clients.openWindow(url)
}
