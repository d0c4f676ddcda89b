package views

import (
	"strconv"

	"rsc.io/qr"
)

// Mark is a QR code as one path, a unit for each module, with the quiet zone of four around it.
type Mark struct{ Box, Path string }

// QRPicture draws a text as a QR code for programs that show no SVG, as PNG; nothing if the text is too long.
func QRPicture(text string) []byte {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil
	}
	return code.PNG()
}

// QRCode draws a text as a QR code; a text too long for one is drawn as nothing.
func QRCode(text string) Mark {
	const quiet = 4
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return Mark{Box: "0 0 1 1"}
	}
	size := strconv.Itoa(code.Size + 2*quiet)
	var path []byte
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			if !code.Black(x, y) {
				continue
			}
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			path = append(path, 'M')
			path = strconv.AppendInt(path, int64(from+quiet), 10)
			path = append(path, ' ')
			path = strconv.AppendInt(path, int64(y+quiet), 10)
			path = append(path, 'h')
			path = strconv.AppendInt(path, int64(x-from), 10)
			path = append(path, "v1h-"...)
			path = strconv.AppendInt(path, int64(x-from), 10)
			path = append(path, 'z')
		}
	}
	return Mark{Box: "0 0 " + size + " " + size, Path: string(path)}
}
