// The plan editor: a picture of the plan, a list of what is in it, and panels about what is selected.

import {boxOfSelection, fitted} from 'usher/editor_edit'
import {Mint, save as written, seatCount} from 'usher/editor_model'
import {problems} from 'usher/editor_section'
import {State} from 'usher/editor_state'
import {Painter} from 'usher/editor_paint'
import {hand} from 'usher/editor_hand'
import {keys, step} from 'usher/editor_keys'
import {polygonOf, turnHandle} from 'usher/editor_tools'
import {TOOLS, showTool} from 'usher/editor_add'
import {showSelection} from 'usher/editor_panel'
import {showOutline} from 'usher/editor_outline'
import {showCategories, showPlan} from 'usher/editor_lists'
import {dropDraft, keepDraft, readDraft} from 'usher/editor_draft'
import {$, $$, data, key, locale, say} from 'usher/page'
import {N, T} from 'usher/text'

const DRAFT_AFTER = 300, REST = 200 // ms without an edit, after which it is kept and the panel filled
const MANY = 500 // things selected
const canvas = $('.board canvas'), card = $('.board .card'), panels = $('.panels'), notice = $('.bar .notice'), saveButton = $('[data-do=save]')
const address = `/desk/plans/${data.plan}`
let state, painter, due, timer, filling, version = Number(data.version), sending, sendKey, kept, panel = 'selection', back = false // to the panel of the picture to trace

function redraw() { due ??= requestAnimationFrame(draw) }

function draw() {
  due = undefined
  const marks = {...state.marks}
  if (!state.ghost && !marks.path && !marks.lasso) {
    marks.turner = turnHandle(state)
    marks.handles ??= state.tool === 'select' ? polygonOf(state)?.points : undefined
  }
  if (state.plan.focus) marks.guides = [...marks.guides ?? [], ...state.tool === 'focus' ? [['x', state.plan.focus[0]], ['y', state.plan.focus[1]]] : []]
  if (!state.ghost) painter.settle()
  painter.draw({plan: state.shown, selection: state.selection, camera: state.camera, ghost: state.ghost, marks, under: {address, loaded: redraw, move: state.moved, opacity: state.opacity}})
  canvas.dataset.ready = '1'
}

const shows = {
  selection: node => state.tool === 'select' || state.tool === 'pan' ? showSelection(node, state) : showTool(node, state),
  sections: node => showOutline(node, state),
  categories: node => showCategories(node, state, plan => painter.colours(plan)),
  plan: node => showPlan(node, state, send, say),
}

// showFirst leads through an empty plan: what to begin with, then what to do with the tool in hand.
function showFirst() {
  const first = $('.first'), tool = state.tool !== 'select' && TOOLS[state.tool]
  first.hidden = Boolean(state.plan.sections.length || state.plan.shapes?.length || state.plan.underlays?.length)
  first.toggleAttribute('data-drawing', Boolean(tool))
  $('[data-first=begin]').hidden = Boolean(tool)
  $('[data-first=tool]').hidden = !tool
  $('[data-first=tool]').textContent = tool ? tool[1] : ''
}

// show fills the panel that is open and tells the buttons how things are.
function show() {
  clearTimeout(filling)
  shows[panel](panels)
  showButtons()
}

function showButtons() {
  for (const tab of $$('[data-panel]')) tab.setAttribute('aria-pressed', String(tab.dataset.panel === panel))
  for (const tool of $$('.tools button')) tool.setAttribute('aria-pressed', String(tool.dataset.tool === state.tool))
  $('[data-do=undo]').disabled = !state.h.past.length
  $('[data-do=redo]').disabled = !state.h.future.length
  $('[data-name]').textContent = state.plan.name
  $('[data-figures]').textContent = N('%d seat', '%d seats', seatCount(state.plan))
  canvas.dataset.hand = state.tool
  showFloors()
  showFirst()
  tellSaved()
}

// showFloors fills the switch between floors.
function showFloors() {
  const floors = state.plan.floors ?? [], chosen = $('[name=floor]')
  chosen.closest('label').hidden = !floors.length
  chosen.replaceChildren(...floors.map(f => new Option(f.name, f.name, false, f.name === state.floor)))
}

function tellSaved() {
  saveButton.disabled = !state.unsaved || Boolean(sending)
  notice.textContent = sending ? T('Saving …') : !state.unsaved ? T('Version %s is saved.', version) : kept === state.plan ? T('Not saved yet; kept in this browser.') : T('Not saved yet.')
}

function changed() {
  redraw()
  const tracing = ['under', 'scale'].includes(state.tool)
  if (tracing && panel === 'plan') [panel, back] = ['selection', true]
  else if (!tracing && back) [panel, back] = ['plan', false]
  if (state.selection.size < MANY) show()
  else { // what is said of thousands can wait until the hand rests
    showButtons()
    clearTimeout(filling)
    filling = setTimeout(show, REST)
  }
  clearTimeout(timer)
  timer = setTimeout(keep, DRAFT_AFTER)
}

async function keep() {
  const {plan} = state
  if (!state.unsaved) return dropDraft(data.plan)
  if (kept === plan) return
  if (await keepDraft(data.plan, {version, at: Date.now(), document: written(fitted(plan))})) kept = plan
  tellSaved()
}

// save sends the plan; the same one with the same key, so that a repeat is no second version.
async function save() {
  if (sending || !state.unsaved) return
  const found = problems(state.plan)
  if (found.length) {
    panel = 'plan'
    show()
    return say(T('It cannot be saved yet: %s', found[0].text))
  }
  const plan = state.plan, body = JSON.stringify({base: version, note: $('[name=note]').value.trim(), document: written(fitted(plan))})
  if (sendKey?.body !== body) sendKey = {body, key: key()}
  sending = plan
  tellSaved()
  try {
    await sent(plan, body)
  } catch {
    say(T('The plan was not saved: the box office cannot be reached. It is kept in this browser; try again in a moment.'))
  } finally {
    sending = undefined
    tellSaved()
  }
}

async function sent(plan, body) {
  const answer = await fetch(`${address}/versions`, {method: 'POST', body, headers: {'Content-Type': 'application/json', 'Idempotency-Key': sendKey.key}})
  const told = await answer.json()
  if (!answer.ok) {
    if (told.error?.code === 'version') ask(told.error)
    return say(told.error?.message ?? T('The plan was not saved: status %s.', answer.status))
  }
  version = told.version
  $('[name=note]').value = ''
  state.saved(plan)
  await (state.unsaved ? keep() : dropDraft(data.plan))
  say(T('Saved as version %s.', version))
}

// send keeps a picture to trace, and answers its name; it says why if it is not kept.
async function send(file) {
  const body = new FormData()
  body.set('picture', file, file.name ?? `page.${file.type.slice(6)}`) // a page of a PDF has no name
  say(T('Sending the picture …'))
  try {
    const answer = await fetch(`${address}/pictures`, {method: 'POST', body, headers: {Accept: 'application/json', 'Idempotency-Key': key()}}), told = await answer.json()
    say(answer.ok ? T('The picture is under the plan. Save the plan to keep it.') : told.error?.message)
    return answer.ok ? told : undefined
  } catch {
    say(T('The picture was not sent: the box office cannot be reached. Try again in a moment.'))
  }
}

// ask says that another member saved the plan meanwhile, and what can be done.
function ask({message, fields}) {
  $('.newer .what').textContent = message
  $('dialog.newer').dataset.newest = fields.newest
  $('dialog.newer').showModal()
}

// offer brings back what was drawn in this browser and not saved.
async function offer() {
  const draft = await readDraft(data.plan)
  if (!draft) return
  const when = new Date(draft.at).toLocaleString(locale(), {weekday: 'long', hour: '2-digit', minute: '2-digit'})
  state.replace(draft.document)
  say(draft.version === version ? T('What you drew on %s and did not save is here again. Undo takes it back.', when) : T('What you drew on %s from version %s is here again; version %s is newer. Undo shows that one.', when, draft.version, version))
}

function reveal() {
  const box = boxOfSelection(state.plan, state.selection)
  if (box) state.camera.reveal(box)
  redraw()
}

const does = {
  undo: () => state.undo(), redo: () => state.redo(), save,
  in() { state.camera.zoom(1.4); redraw() }, out() { state.camera.zoom(1 / 1.4); redraw() }, whole: () => state.whole(),
  next() { step(state, 1); reveal() }, previous() { step(state, -1); reveal() },
  anyway() {
    version = Number($('dialog.newer').dataset.newest) || version
    $('dialog.newer').close()
    save()
  },
}

function listen() {
  const pointer = hand(canvas, state, card)
  keys(canvas, state, {save, cancel: () => pointer.cancel(), reveal})
  state.addEventListener('change', changed)
  state.addEventListener('look', redraw)
  for (const b of $$('[data-do]')) b.addEventListener('click', () => does[b.dataset.do]())
  const take = tool => { pointer.cancel(); panel = 'selection'; state.use(tool) }
  for (const b of $$('.tools button')) b.addEventListener('click', () => take(b.dataset.tool))
  for (const b of $$('[data-begin]')) b.addEventListener('click', () => { take(b.dataset.begin); canvas.focus() })
  $('[data-trace]').addEventListener('click', () => { panel = 'plan'; show(); $('[name=picture]').click() })
  for (const b of $$('[data-panel]')) b.addEventListener('click', () => { panel = b.dataset.panel; show() })
  $('[name=level]').addEventListener('change', event => { state.level = event.target.value })
  $('[name=floor]').addEventListener('change', event => state.toFloor(event.target.value))
  $('[name=snap]').addEventListener('change', event => { state.snaps = event.target.checked })
  new ResizeObserver(() => { state.camera.measure(canvas); redraw() }).observe(canvas)
  addEventListener('pagehide', keep)
  document.addEventListener('visibilitychange', () => { if (document.hidden) keep() })
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) matchMedia(query).addEventListener('change', () => { painter.recolour(); redraw() })
}

async function start() {
  const answer = await fetch(`${address}/versions/${version}.json`)
  if (!answer.ok) throw new Error(`the plan: status ${answer.status}`)
  state = new State(await answer.json(), new Mint(key().slice(0, 8)))
  painter = new Painter(canvas)
  state.camera.measure(canvas)
  listen()
  state.whole()
  show()
  await offer()
  document.body.dataset.ready = '1'
}

start().catch(error => {
  notice.textContent = T('The plan could not be loaded. Load the page again.')
  throw error
})
