// What lies over the map: what is written on it, and the buttons that move it. It comes after the first picture of the seats.

import {buttons} from 'usher/buttons'
import {start as startDrawer} from 'usher/drawer'
import {start as startNames} from 'usher/names'

export async function start(stage) {
  if (stage.hold) startDrawer(stage.hold)
  const {styles} = stage.frame.dataset
  buttons(stage.view, () => stage.view.fly(...stage.view.all))
  if (styles) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(await (await fetch(styles)).text())
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  }
  startNames(stage)
}
