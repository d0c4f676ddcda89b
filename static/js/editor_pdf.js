// A page of a PDF as a picture to trace. It is drawn here, in the browser of the member: the server is sent a picture.

import {T} from 'usher/text'

const LONGEST = 3000    // pixels of the longer side: seats of a house that is drawn on one sheet can be told apart
const MOST = 12e6       // bytes of a picture that are taken
const MOST_READ = 200e6 // bytes of a PDF: all of it is in memory

// isPDF looks at the first bytes, where readers of PDF look: the name of a file may be any.
export const isPDF = async file => (await file.slice(0, 1024).text()).includes('%PDF-')

// pageOf draws a page, counted from 1, and answers {picture, page, pages}, or {wrong} with why not. A page that is not there is the
// nearest one.
export async function pageOf(file, page) {
  let port, worker
  try {
    if (file.size > MOST_READ) throw new DOMException('', 'InvalidPDFException')
    const {getDocument, PDFWorker} = await import('usher/pdf')
    port = new Worker(import.meta.resolve('usher/pdf_worker'), {type: 'module'})
    const broken = new Promise((_, fail) => port.addEventListener('error', fail))
    worker = new PDFWorker({port, verbosity: 0})
    return await Promise.race([broken, read(getDocument, worker, file, page)])
  } catch (err) {
    if (err.name === 'PasswordException') return {wrong: T('The PDF has a password. Save it without one, or save its page as a PNG or JPEG.')}
    if (err.name !== 'InvalidPDFException') console.warn(err)
    return {wrong: T('The PDF cannot be read. Save its page as a PNG or JPEG.')}
  } finally {
    worker?.destroy()
    port?.terminate()
  }
}

async function read(getDocument, worker, file, page) {
  const data = await file.arrayBuffer()
  const pdf = await getDocument({data, worker, disableFontFace: true, isEvalSupported: false, useWasm: false, useSystemFonts: false, verbosity: 0}).promise
  const pages = pdf.numPages, nearest = Math.min(Math.max(1, Math.round(page)), pages)
  return {picture: await drawn(await pdf.getPage(nearest)), page: nearest, pages}
}

async function drawn(page) {
  const {width, height} = page.getViewport({scale: 1}), viewport = page.getViewport({scale: LONGEST / Math.max(width, height)})
  const canvas = Object.assign(document.createElement('canvas'), {width: Math.round(viewport.width), height: Math.round(viewport.height)})
  await page.render({canvas, viewport}).promise
  const as = (...kind) => new Promise(made => canvas.toBlob(made, ...kind)), png = await as('image/png')
  return png.size > MOST ? as('image/jpeg', .85) : png
}
