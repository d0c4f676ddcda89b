// The sheet that seats are drawn on, and when: some of them, all of them, or none and it is only moved along.
//
// While the view moves, nothing of the page is laid out or drawn for a frame: what is on the screen is moved. A house that
// takes long is drawn meanwhile in parts, on another sheet, and that is shown once it is whole.

const SLOW = 3 // ms for all seats, beyond which they are not drawn for each frame of a move
const PART = 3 // ms of a frame to draw a part in; the rest is the browser's
const PACE = 500 // ms between two pictures while the view moves: to show one takes a slow phone a frame

// pen draws on a canvas of its own.
export const pen = how => document.createElement('canvas').getContext('2d', how)

const alike = (a, b) => a.x === b.x && a.y === b.y && a.scale === b.scale

// along is the style that moves a picture of one view to where it is in another, by whole pixels: so it stays sharp.
export function along(was, now) {
  const px = length => Math.round(length * now.scale * now.ratio) / now.ratio
  return `translate(${px(was.x - now.x)}px, ${px(was.y - now.y)}px) scale(${now.scale / was.scale})`
}

// Sheet lies under a canvas. Who extends it says how: all(g, view) draws every seat, part by part, and some(g, view, seats)
// a few of them, if that is possible. A view is {scale, x, y, width, height, ratio}; a seat stands at (seat - x) * scale.
export class Sheet {
  #front = pen()
  #back = pen() // where the next picture is drawn
  #now = {stale: true} // the picture: at which view, which seats of it are stale or all, what ms it cost, since when it is
  #next // the same of the next one, and the parts that are left of it
  marked = false // there is something above it
  constructor(canvas) {
    this.above = canvas.getContext('2d')
    canvas.before(this.#front.canvas)
  }

  // touch says which seats look different now; without any, all of them may.
  touch(idxs) {
    if (!idxs) [this.#now.stale, this.#next] = [true]
    else for (const stale of [this.#now.stale, this.#next?.stale]) if (stale?.add) idxs.forEach(idx => stale.add(idx))
  }

  // draw shows everything in view. It says whether the picture is not yet as it should be.
  draw(view) {
    const now = this.#now
    if (this.marked) this.marked = wipe(this.above)
    if (fit(this.#front, this.above)) now.at = this.#next = undefined
    if (!now.at || !alike(now.at, view) || now.stale === true) this.#draw(view, now.at && view.moving && now.cost > SLOW)
    else if (!now.stale.size || this.some(this.#front, view, now.stale)) [now.stale, this.#next] = [new Set()]
    else this.#draw(view)
    this.#front.canvas.style.transform = along(now.at, view)
    return now.stale.size !== 0 || this.#next || !alike(now.at, view)
  }

  #draw(view, moving) {
    if (moving && !this.#next && performance.now() - this.#now.since < PACE) return
    if (!this.#next || !moving && !alike(this.#next.at, view)) {
      const at = {...view}, g = moving ? this.#back : this.#front
      fit(g, this.above)
      this.#next = {at, g, stale: new Set(), parts: this.all(g, at), cost: 0}
    }
    this.#goOn(this.#next, moving ? PART : Infinity)
  }

  #goOn(next, most) {
    const began = performance.now()
    let done
    do ({done} = next.parts.next())
    while (!done && performance.now() - began < most)
    next.cost += performance.now() - began
    if (!done) return
    if (next.g !== this.#front) {
      wipe(this.#front)
      this.#front.drawImage(next.g.canvas, 0, 0)
    }
    Object.assign(this.#now, next, {since: performance.now()})
    this.#next = undefined
  }
}

// fit makes a canvas as large as another; true if it was not. One that is given a size, be it the same, is empty.
function fit({canvas}, {canvas: {width, height}}) {
  return (canvas.width !== width || canvas.height !== height) && Object.assign(canvas, {width, height})
}

// wipe empties a canvas.
export function wipe(g) {
  g.setTransform(1, 0, 0, 1, 0, 0)
  g.clearRect(0, 0, g.canvas.width, g.canvas.height)
}
