// Edits a plan as the editor does: reads {document, seed, steps}, does so many random edits, and writes {document, seats,
// problems}: the document as it would be saved, what each seat of it is by its id, and what the editor would complain of.

import {readFileSync} from 'node:fs'
import {modules} from './modules.mjs'
import {EDITOR, dice, randomDocument, randomEdit} from './random.mjs'

const editor = await modules(EDITOR)
const asked = JSON.parse(readFileSync(0, 'utf8'))

function edited({document, seed, steps}) {
  const d = dice(seed), mint = new editor.Mint(`e${seed}`)
  let plan = editor.load(document ?? randomDocument(d), mint)
  for (let i = 0; i < steps; i++) ({plan} = randomEdit(editor, d, plan, mint))
  if (steps) plan = editor.fitted(plan)
  const seats = {}
  for (const at of editor.index(plan).values()) {
    if (!at.seat) continue
    seats[at.seat.id] = {section: at.section.name, row: at.part ? editor.labelOf(at.part) : '', number: at.seat.number, x: at.seat.x, y: at.seat.y, category: editor.categoryOf(at.seat, at.section), flags: at.seat.flags ?? []}
  }
  return {document: editor.save(plan), seats, problems: editor.problems(plan).map(p => p.text)}
}

process.stdout.write(JSON.stringify(asked.map(edited)))
