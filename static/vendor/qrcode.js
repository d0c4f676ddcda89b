// The writer of QR codes, for pages that draw them anew.
export {encodeQR} from 'qr'
