// The reader of QR codes for browsers without one of their own.
export {BarcodeDetector} from 'qr/decode.js'
