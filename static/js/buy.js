// The pages from a hold to its order: checkout, payment and order.

import {start as checkout} from 'usher/checkout'
import {clock} from 'usher/clock'
import {$, data, path} from 'usher/page'
import {start as payment} from 'usher/payment'

document.body.classList.add('scripted')
if ($('.order')) sessionStorage.removeItem(`usher${path}/checkout`) // what was typed at the checkout is in the order now
else {
  clock.measure(+data.now, performance.now()) // it was written since the page was asked for
  data.payment ? payment() : checkout()
}
