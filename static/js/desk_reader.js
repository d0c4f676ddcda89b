// The page of a sale at a card reader: it is loaded again once the sale stands otherwise.

import {underWay, watch} from 'usher/reader'

const at = document.querySelector('[data-reader]'), {reader, stands} = at.dataset
const again = ({state}) => { if (state !== stands) location.replace(reader) }

if (underWay(stands)) watch(reader, again)
