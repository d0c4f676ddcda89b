// The page of an event, or of one of its sections.

import {hold, post, start as startHold} from 'usher/hold'
import {start as startList} from 'usher/list'
import {live, start as startLive} from 'usher/live'
import {start as startMap} from 'usher/map'
import {data, floored, say} from 'usher/page'
import {T, number} from 'usher/text'

// Few events have ticket types, or prices that change.
const startTypes = () => import('usher/types').then(types => types.start(hold, live, post, say, T, number, floored))

document.body.classList.add('scripted')
startHold()
startList()
startLive()
startMap().catch(console.error) // without its picture the page is still whole: lists and forms do everything
if (data.types) startTypes()
else live.other = startTypes
