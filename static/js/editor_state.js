// What the parts of the editor share: the plan with its history, what is selected, the tool in hand, and where one looks.
// It sends "change" when the plan or the selection changed, and "look" when only the picture has to be drawn anew.

import {Camera} from 'usher/editor_camera'
import {act, begin, redo, saved, select, undo, unsaved} from 'usher/editor_history'
import {KEY, alive, index, load, partsOf} from 'usher/editor_model'
import {sectionPoints} from 'usher/editor_edit'
import {placed, shown} from 'usher/editor_floors'
import {boxOf, pointsOf} from 'usher/editor_shape'

export class State extends EventTarget {
  camera = new Camera()
  tool = 'select'
  level = 'rows' // what a tap selects: seats, rows, sections
  snaps = true
  section = undefined // key of the section that new rows go to
  floor = undefined // the name of the one that is seen
  marks = {} // what the hand is at
  ghost = undefined // what is being moved, and how
  moved = undefined // how the picture to trace is being moved
  opacity = undefined // of the picture to trace, while it is being chosen

  constructor(document, mint) {
    super()
    this.mint = mint
    this.h = begin(load(document, mint))
    this.#onFloor()
  }

  get plan() { return this.h.plan }
  get shown() { return shown(this.plan, this.floor) } // what is on the floor that is seen
  get selection() { return this.h.selection }
  get unsaved() { return unsaved(this.h) }

  #to(h) {
    if (h === this.h) return
    this.h = h
    this.#onFloor()
    if (this.section && !index(h.plan).has(this.section)) this.section = undefined
    this.#tell('change')
  }
  // #onFloor sees the floor of what is selected, or one that is still there.
  #onFloor() {
    const {floors} = this.plan, at = index(this.plan).get([...this.selection][0])
    const floor = floors && ((at?.section ?? at?.shape)?.floor ?? (floors.some(f => f.name === this.floor) ? this.floor : floors[0].name))
    if (floor !== this.floor) this.section = undefined
    this.floor = floor
  }
  #tell(what) { this.dispatchEvent(new Event(what)) }

  // act does an edit: f takes the plan, the selection and the mint and returns {plan, selection}.
  act(f, mark) {
    const {plan, selection = this.selection} = f(this.plan, this.selection, this.mint)
    this.#to(act(this.h, {plan: placed(plan, this.floor ?? plan.floors?.[0].name), selection: alive(plan, selection)}, mark))
  }
  undo() { this.#step(undo(this.h)) }
  redo() { this.#step(redo(this.h)) }
  // #step leaves the picture where it is, unless what changed is on another floor.
  #step(h) {
    const {floor} = this
    this.#to(h)
    if (this.floor !== floor) this.whole()
  }
  saved(plan) { this.#to(saved(this.h, plan)) }

  // replace takes another document in place of the plan, as one step.
  replace(document) { this.act(() => ({plan: load(document, this.mint), selection: new Set()})) }

  select(keys, add = false) {
    const selection = new Set(add ? this.selection : [])
    for (const key of keys) selection.add(key)
    this.#to(select(this.h, selection))
    const only = this.onlySection()
    if (only && !only.area) this.section = only[KEY]
  }
  deselect(keys) {
    const selection = new Set(this.selection)
    for (const key of keys) selection.delete(key)
    this.#to(select(this.h, selection))
  }

  // onlySection is the section that all of the selection is in; undefined if there are several or none.
  onlySection() {
    let only
    for (const key of this.selection) {
      const {section} = index(this.plan).get(key) ?? {}
      if (!section || only && only !== section) return
      only = section
    }
    return only
  }

  use(tool) {
    this.tool = tool
    this.marks = {}
    this.#tell('change')
  }
  toFloor(name) {
    this.h = select(this.h, new Set())
    this.floor = name
    this.section = undefined
    this.whole()
    this.#tell('change')
  }
  look() { this.#tell('look') }

  // whole shows all of the plan.
  whole() {
    const points = [...this.shown.sections.flatMap(sectionPoints), ...(this.shown.shapes ?? []).flatMap(pointsOf)]
    this.camera.fit(boxOf(points) ?? {left: 0, top: 0, right: this.plan.width || 1000, bottom: this.plan.height || 700}, 2)
    this.look()
  }
}

// every is all that can be selected.
export const every = plan => [...index(plan).keys()]

export const rowsSelected = (plan, selection) => plan.sections.flatMap(s => partsOf(s).filter(p => p.seats.some(seat => selection.has(seat[KEY]))))
