// The page of an order: what was typed at its checkout (checkout.js) is in the order now, and is forgotten here.

sessionStorage.removeItem(`usher/events/${document.body.dataset.slug}/checkout`)
