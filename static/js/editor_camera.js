// Where the plan is looked at: scale is CSS pixels per unit, x and y the plan's point in the upper left corner.

const LEAST = .01, MOST = 12

export class Camera {
  scale = 1; x = 0; y = 0; width = 1; height = 1; ratio = 1

  // measure takes the size of the canvas on the page and makes its pixels as many.
  measure(canvas) {
    const [cx, cy] = this.plan(this.width / 2, this.height / 2)
    this.width = canvas.clientWidth || 1
    this.height = canvas.clientHeight || 1
    this.ratio = Math.min(devicePixelRatio || 1, 2)
    canvas.width = Math.round(this.width * this.ratio)
    canvas.height = Math.round(this.height * this.ratio)
    this.x = cx - this.width / 2 / this.scale
    this.y = cy - this.height / 2 / this.scale
  }

  plan(px, py) { return [px / this.scale + this.x, py / this.scale + this.y] }
  screen([x, y]) { return [(x - this.x) * this.scale, (y - this.y) * this.scale] }

  // fit shows a box with some room around.
  fit(box, most = 4) {
    const w = box.right - box.left || 1, h = box.bottom - box.top || 1
    this.scale = Math.max(LEAST, Math.min(most, this.width / (w * 1.15), this.height / (h * 1.15)))
    this.x = (box.left + box.right - this.width / this.scale) / 2
    this.y = (box.top + box.bottom - this.height / this.scale) / 2
  }

  // zoom keeps the point at px, py where it is.
  zoom(by, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.plan(px, py)
    this.scale = Math.max(LEAST, Math.min(MOST, this.scale * by))
    this.x = x - px / this.scale
    this.y = y - py / this.scale
  }

  pan(dx, dy) {
    this.x -= dx / this.scale
    this.y -= dy / this.scale
  }

  // reveal moves as little as shows a box.
  reveal(box) {
    const [left, top] = this.screen([box.left, box.top]), [right, bottom] = this.screen([box.right, box.bottom]), room = 24
    if (right - left > this.width || bottom - top > this.height) return this.fit(box)
    this.pan(Math.max(0, room - left) - Math.max(0, right + room - this.width), Math.max(0, room - top) - Math.max(0, bottom + room - this.height))
  }
}
