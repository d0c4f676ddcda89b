// The page of an event, or of one of its sections.

import {start as startHold} from 'usher/hold'
import {start as startList} from 'usher/list'
import {start as startLive} from 'usher/live'
import {start as startMap} from 'usher/map'

document.body.classList.add('scripted')
startHold()
startList()
startLive()
startMap().catch(console.error) // without its picture the page is still whole: lists and forms do everything
