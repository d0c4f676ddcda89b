// Keeps the page of the door, for a reload without a network: the page, what it loads, and the tickets known last. It
// asks the network first, and alone for a request that is not to be answered from what is stored. Its scope is /door/.

const STORE = 'usher-door', PATIENCE = 4000

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()))

async function answer(request) {
  const cache = await caches.open(STORE), kept = request.cache === 'no-store' ? undefined : await cache.match(request, {ignoreVary: true})
  if (kept && new URL(request.url).pathname.startsWith('/static/')) return kept // its address changes with it
  const asked = fetch(request).then(async fresh => {
    if (fresh.ok) await cache.put(request, fresh.clone())
    else if (fresh.status < 500) await cache.delete(request) // the link was revoked
    else if (kept) return kept
    return fresh
  })
  if (!kept) return asked
  return Promise.race([asked.catch(() => kept), new Promise(late => setTimeout(late, PATIENCE, kept))])
}

self.addEventListener('fetch', event => {
  if (event.request.method === 'GET' && event.request.url.startsWith(self.origin)) event.respondWith(answer(event.request))
})
