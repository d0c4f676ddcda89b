// The account of an attendee: its passkeys.

import {create, offer, use} from 'usher/passkey'

offer({
  add: form => create(form, '/account/passkeys'),
  'sign-in': form => use(form, '/account/session/options', '/account/session/passkey'),
})
