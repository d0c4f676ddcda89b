// The part of the reader of PDFs that runs in a worker.
import 'pdfjs-dist/build/pdf.worker.mjs'
