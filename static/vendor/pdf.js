// The reader of PDFs, with what draws a page of one.
export {getDocument, PDFWorker} from 'pdfjs-dist/build/pdf.mjs'
