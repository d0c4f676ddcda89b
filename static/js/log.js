// The page of a public log: it checks in this browser that a ticket is in the signed tree, and replays the whole sale (docs/audit-log.md).

import {audit, moment} from 'usher/audit'
import {proven} from 'usher/logproof'
import {N, T, number} from 'usher/text'

const {log} = document.body.dataset
const $ = selector => document.querySelector(selector)
const form = $('[data-check]')
const whole = $('[data-audit]')
const make = (name, textContent, more = {}) => Object.assign(document.createElement(name), {textContent, ...more})

async function check() {
  const lines = []
  try {
    const found = await proven(path => fetch(`${log}/${path}`), form.code.value)
    if (found.wrong) lines.push(T('This ticket is not in the log.'))
    else {
      lines.push(T('The ticket is in the log: change %s sold its seat, and the log of %s changes with it is signed.', number(found.leaf), number(found.size)))
      if (found.opened) lines.push(T('The sale is to the order of this ticket.'))
      if (!found.signed) lines.push(T('This browser cannot check the signature.'))
    }
  } catch (error) {
    lines.push(T('The ticket could not be checked: %s', error.message))
  }
  $('[data-checked]').replaceChildren(...lines.map(line => make('p', line)))
}

const steps = {leaves: () => T('Downloading the changes'), tree: () => T('Computing the tree'), tiles: () => T('Downloading the tree')}

async function auditAll() {
  const progress = $('[data-progress]'), found = $('[data-found]'), button = whole.querySelector('button')
  button.disabled = true
  found.replaceChildren()
  progress.hidden = false
  try {
    const began = performance.now()
    const report = await audit({log, ticket: whole.ticket.value, seen: whole.seen.value, progress(step, done, of) {
      progress.querySelector('span').textContent = T('%s: %s of %s', steps[step](), number(done), number(of))
      Object.assign(progress.querySelector('progress'), {value: done, max: of})
    }})
    found.replaceChildren(...told(report, (performance.now() - began) / 1000))
  } catch (error) {
    found.replaceChildren(make('p', T('The log could not be checked: %s', error.message), {className: 'wrong'}))
  }
  progress.hidden = true
  button.disabled = false
}

// told is a report, as "usher audit" prints it.
function told(r, seconds) {
  const {length} = r.problems
  const right = r.signed ? T('The log is right.') : T('Nothing wrong was found, but this browser cannot check the signature of the log.')
  const rows = [
    [T('Log'), r.origin],
    [T('Replayed'), T('%s, %s, %s. %s MB in %s s', N('%d leaf', '%d leaves', r.leaves), N('%d change', '%d changes', r.versions), N('%d seat', '%d seats', r.seats), (r.bytes / 1e6).toFixed(1), seconds.toFixed(1))],
    [T('Start of the sale'), r.doors === null ? T('not open yet') : T('open since %s', moment(r.doors))],
    [T('Before the start'), T('%s declared in blocks, %s of them taken. %s claimed with access codes', N('%d seat', '%d seats', r.declared), number(r.earlyBlocks), number(r.presale))],
    [T('After the start'), T('%s blocked, %s given back and taken in one change', N('%d seat', '%d seats', r.lateBlocks), number(r.returned))],
    [T('Now'), T('%s free, %s held, %s sold, %s blocked', number(r.free), number(r.held), number(r.sold), number(r.blocked))],
    [T('Shown'), r.shown < 0 ? T('no map, so nothing was compared') : T('compared at version %s', number(r.shown))],
    ...r.since.map(size => [T('Continues'), T('the log of %s', N('%d leaf', '%d leaves', size))]),
    ...r.draws.map(draw => [T('Draw'), draw]),
    ...r.ticket ? [[T('Ticket'), r.ticket]] : [],
    ...r.cosigners > 0 ? [[T('Witnesses'), T('%s on the checkpoint, not checked', N('%d signature', '%d signatures', r.cosigners))]] : [],
  ]
  const list = make('dl', '', {className: 'proof'})
  for (const [name, said] of rows) {
    const row = make('div', '')
    row.append(make('dt', name), make('dd', said))
    list.append(row)
  }
  const problems = make('ul', '')
  problems.append(...r.problems.map(problem => make('li', problem)))
  return [
    length ? make('p', N('Wrong: %d finding.', 'Wrong: %d findings.', length), {className: 'wrong'}) : make('p', right, {className: 'came'}),
    ...length ? [problems] : [],
    ...r.leaves ? [list] : [], // else the checkpoint is not signed, and nothing was read
    make('p', T('Save this checkpoint, and compare it with others:')),
    make('pre', r.checkpoint, {tabIndex: 0, dir: 'ltr'}),
  ]
}

if (globalThis.crypto?.subtle) { // only where the connection is safe
  form.hidden = whole.hidden = false
  form.code.value = whole.ticket.value = decodeURIComponent(location.hash.slice(1))
  const on = (form, run) => form.addEventListener('submit', event => {
    event.preventDefault()
    run()
  })
  on(form, check)
  on(whole, auditAll)
} else $('[data-unsafe]').hidden = false
