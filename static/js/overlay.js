// What lies over the map: what is written on it, and the buttons that move it. It comes after the first picture of the seats.

import {buttons} from 'usher/buttons'
import {start as startDrawer} from 'usher/drawer'
import {start as startFind} from 'usher/find'
import {start as startNames} from 'usher/names'
import {start as startSections} from 'usher/sections'

export async function start(stage) {
  if (stage.hold) {
    startDrawer(stage.hold)
    startFind(stage)
    startSections()
    startViews(stage)
  }
  const {styles} = stage.frame.dataset
  if (styles) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(await fetch(styles).then(answer => answer.text()).catch(() => ''))
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  }
  buttons(stage.view, () => stage.view.fly(...stage.view.all)) // in their places: what jumps is in the way
  startNames(stage)
  stage.frame.dataset.complete = ''
}

const REST = 350 // ms at a seat after which its view is fetched

// startViews puts a drawing of the view from a seat on the card that names it.
function startViews(stage) {
  let waiting
  stage.addEventListener('seat', ({detail: idx}) => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      if (stage.card.hidden) return
      const view = new Image(256, 162)
      view.alt = ''
      view.src = document.body.dataset.geometry.replace('/geometry/', '/views/').replace('.json', `/${idx}.svg`)
      stage.card.prepend(view)
      stage.put()
    }, REST)
  })
}
