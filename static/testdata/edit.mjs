// Edits a plan as the editor does: reads a list of {document, seed, steps, day, fault}, and writes for each {document, seats,
// problems, told}: the document as it would be saved, what each seat of it is by its id, what the editor would complain of,
// and what a day was meant to change. It does so many random steps, or a day (day.mjs). A fault is planted into the scripts.

import {readFileSync} from 'node:fs'
import {day} from './day.mjs'
import {modules} from './modules.mjs'
import {EDITOR, dice, randomDocument, randomEdit} from './random.mjs'

const whole = await modules(EDITOR)
const asked = JSON.parse(readFileSync(0, 'utf8'))

async function edited({document, seed, steps, day: wholeDay, fault}) {
  const editor = fault ? await modules(EDITOR, fault) : whole
  const d = dice(seed), mint = new editor.Mint(`e${seed}`)
  let plan = editor.load(document ?? randomDocument(d), mint), told
  for (let i = 0; i < steps; i++) ({plan} = randomEdit(editor, d, plan, mint))
  if (steps) plan = editor.fitted(plan)
  if (wholeDay) ({plan, told} = day(editor, plan, mint))
  const seats = {}
  for (const at of editor.index(plan).values()) {
    if (!at.seat) continue
    seats[at.seat.id] = {section: at.section.name, row: at.part ? editor.labelOf(at.part) : '', number: at.seat.number, x: at.seat.x, y: at.seat.y, category: editor.categoryOf(at.seat, at.section), flags: at.seat.flags ?? []}
  }
  return {document: editor.save(plan), seats, problems: editor.problems(plan).map(p => p.text), told}
}

process.stdout.write(JSON.stringify(await Promise.all(asked.map(edited))))
