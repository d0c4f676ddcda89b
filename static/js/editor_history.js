// Undo and redo: every step keeps the whole plan as it was, which costs only what changed, and what was selected.

const MOST = 1000 // steps that can be undone

// begin is the history of a plan nothing was done to.
export const begin = plan => ({plan, selection: new Set(), past: [], future: [], saved: plan})

// act does one step. Steps with the same mark, one right after the other, are undone together: a key held down, a word
// being typed. What changes nothing is no step.
export function act(h, {plan, selection}, mark) {
  if (plan === h.plan) return select(h, selection)
  const together = mark !== undefined && mark === h.mark && h.past.length > 0
  const past = together ? h.past : [...h.past.slice(1 - MOST), {plan: h.plan, selection: h.selection}]
  return {...h, plan, selection, past, future: [], mark}
}

// select changes nothing of the plan, so it is no step.
export const select = (h, selection) => ({...h, selection, mark: undefined})

export function undo(h) {
  if (!h.past.length) return h
  const now = h.past.at(-1)
  return {...h, ...now, past: h.past.slice(0, -1), future: [...h.future, {plan: h.plan, selection: h.selection}], mark: undefined}
}

export function redo(h) {
  if (!h.future.length) return h
  const now = h.future.at(-1)
  return {...h, ...now, past: [...h.past, {plan: h.plan, selection: h.selection}], future: h.future.slice(0, -1), mark: undefined}
}

// saved notes that the server has this plan. Undo goes back across it, one step at a time: what comes next is a step of its own.
export const saved = (h, plan) => ({...h, saved: plan, mark: undefined})

export const unsaved = h => h.plan !== h.saved
