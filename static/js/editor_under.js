// A picture that the plan is traced from: it lies under the plan here, and attendees never see it. Where it lies is part of
// the plan, so that it is saved, undone and shared with it; its file is kept beside.

import {mapped, set} from 'usher/editor_model'
import {SPACING, tenth} from 'usher/editor_shape'
import {button, el, field, group, numberField} from 'usher/editor_dom'
import {isPDF, pageOf} from 'usher/editor_pdf'
import {T, number} from 'usher/text'

const WIDTH = 1000, OPACITY = .5 // of a picture that was just added
export const measured = {seats: 10} // in the row that tells the scale of a picture

export const underlayOf = plan => plan.underlays?.[0] // of what is on one floor
export const editUnderlay = (plan, was, fields) => set(plan, 'underlays', mapped(plan.underlays, u => u === was ? {...u, ...fields} : u))
const withUnderlay = (plan, was, underlay) => {
  const rest = (plan.underlays ?? []).filter(u => u !== was), all = underlay ? [...rest, underlay] : rest
  return set(plan, 'underlays', all.length ? all : undefined)
}

const images = new Map()
// image is a picture as soon as it is there; loaded is called then.
function image(src, loaded) {
  let img = images.get(src)
  if (!img) {
    images.set(src, img = new Image())
    img.addEventListener('load', loaded)
    img.src = src
  }
  return img.naturalWidth ? img : undefined
}

// drawUnder draws the picture below everything else. f takes its corner to where it is being moved.
export function drawUnder(g, plan, camera, {address, loaded, move: [dx, dy, grow] = [0, 0, 1], opacity}) {
  const u = underlayOf(plan), img = u && image(`${address}/pictures/${u.picture}`, loaded)
  if (!img) return
  const [x, y] = camera.screen([u.x + dx, u.y + dy]), width = u.width * grow * camera.scale
  g.globalAlpha = opacity ?? u.opacity
  g.drawImage(img, x, y, width, width * img.naturalHeight / img.naturalWidth)
  g.globalAlpha = 1
}

// scaledBy makes the picture so large that two points of it are as far from each other as the ends of a row of seats. The
// first of them stays where it is.
export function scaledBy(u, from, to, seats) {
  const grow = (seats - 1) * SPACING / Math.hypot(to[0] - from[0], to[1] - from[1]), width = u.width * grow
  if (!(width >= 1 && width <= 1e6)) return {}
  return {width: tenth(width), x: tenth(from[0] - (from[0] - u.x) * grow), y: tenth(from[1] - (from[1] - u.y) * grow)}
}

const drawn = new Map() // {file, page, pages} of the PDF that a picture was drawn from, until this page is left
let latest = 0 // counts the files and pages that were chosen: only the last one gets under the plan

// underlayFields is the part of the panel that is about the picture. send keeps a file and answers {picture, width, height};
// say tells the member something.
export function underlayFields(state, send, say) {
  const u = underlayOf(state.shown), act = (f, mark) => state.act(plan => ({plan: f(plan)}), mark)
  const file = el('input', {type: 'file', accept: 'image/png,image/jpeg,image/webp,application/pdf', name: 'picture', 'aria-describedby': 'trace-hint', change: async () => {
    if (!await put(file.files[0], 1)) file.value = '' // the same file, once it is mended, is a change, too
  }})
  // put puts a picture under the floor that is shown, or a page of a PDF. It answers false if nothing was put there.
  async function put(from, page) {
    const mine = ++latest
    let picture = from, pdf
    if (from && await isPDF(from).catch(() => false)) {
      say(T('Drawing the page …'))
      const made = await pageOf(from, page)
      if (mine !== latest) return true
      if (made.wrong) {
        say(made.wrong)
        return false
      }
      picture = made.picture
      pdf = {file: from, page: made.page, pages: made.pages}
    }
    const sent = picture && await send(picture)
    if (!sent) return false
    if (mine !== latest) return true
    if (pdf) drawn.set(sent.picture, pdf)
    act(plan => {
      const was = underlayOf(state.shown), [x, y] = state.camera.plan(0, 0).map(n => Math.max(0, tenth(n)))
      return withUnderlay(plan, was, was ? {...was, picture: sent.picture} : {picture: sent.picture, ...state.floor && {floor: state.floor}, x, y, width: WIDTH, opacity: OPACITY})
    })
    return true
  }
  const chooser = el('label', {}, el('span', {}, u ? T('Another picture') : T('Picture')), file)
  const hint = el('p', {class: 'hint', id: 'trace-hint'}, T('A picture of the floor plan, as a PNG, JPEG, WebP or PDF. It lies under the plan while you draw, and only your team sees it.'))
  if (!u) return group(T('Picture to trace'), chooser, hint)
  const edit = fields => act(plan => editUnderlay(plan, u, fields))
  const range = el('input', {type: 'range', min: 0, max: 100, value: Math.round(u.opacity * 100), name: 'opacity',
    input: () => { state.opacity = range.value / 100; state.look() },
    change: () => { state.opacity = undefined; edit({opacity: range.value / 100}) }})
  return group(T('Picture to trace'),
    el('label', {}, el('span', {}, T('Opacity')), range),
    el('div', {class: 'buttons'}, button(T('Move the picture'), () => state.use('under')), button(T('Set its scale'), () => state.use('scale'))),
    el('div', {class: 'pair'},
      numberField(T('Width'), u.width, n => n > 0 && edit({width: tenth(Math.min(1e6, n))})), numberField(T('From the left'), u.x, n => edit({x: tenth(n)})), numberField(T('From the top'), u.y, n => edit({y: tenth(n)}))),
    chooser, pageField(drawn.get(u.picture), put), hint,
    button(T('Remove the picture'), () => act(plan => withUnderlay(plan, u)), {class: 'danger'}))
}

// pageField chooses another page of the PDF that the picture was drawn from.
function pageField(pdf, put) {
  if (!pdf || pdf.pages < 2) return undefined
  return field(T('Page (of %s)', number(pdf.pages)), pdf.page, async (text, input) => {
    const page = Math.min(Math.max(1, Math.round(Number(text)) || pdf.page), pdf.pages)
    if (page === pdf.page || !await put(pdf.file, page)) input.value = pdf.page
  }, {inputmode: 'numeric'})
}
