package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// The picture of the demo: its size in pixels, and the line of the horizon.
const (
	demoWidth   = 1600
	demoHeight  = 900
	demoHorizon = 560
)

// drawSeagull draws the picture of the demo event: a gull before the sun over the sea. It is a PNG.
func drawSeagull() []byte {
	m := image.NewRGBA(image.Rect(0, 0, demoWidth, demoHeight))
	fade(m, 0, demoHorizon, color.RGBA{8, 34, 42, 255}, color.RGBA{30, 92, 98, 255})
	fade(m, demoHorizon, demoHeight, color.RGBA{6, 30, 38, 255}, color.RGBA{2, 12, 17, 255})
	const sunX, sunR = 960, 250
	sun := vector.NewRasterizer(demoWidth, demoHeight)
	disc(sun, sunX, demoHorizon-20, sunR)
	paint(m, sun, color.RGBA{240, 92, 52, 255}, image.Rect(0, 0, demoWidth, demoHorizon))
	for i := range 13 { // its light on the water
		y, half := demoHorizon+10+i*22, 250-i*14-(i*37)%40
		shift := (i*53)%60 - 30
		line := image.Rect(sunX+shift-half, y, sunX+shift+half, y+5)
		draw.Draw(m, line, image.NewUniform(color.RGBA{uint8(150 - i*9), uint8(62 - i*2), uint8(44 - i), 255}), image.Point{}, draw.Src)
	}
	gull(m, 780, 120, 1, color.RGBA{248, 241, 226, 255})
	gull(m, 500, 110, 0.22, color.RGBA{186, 208, 204, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic("draw the demo: " + err.Error()) // a buffer takes everything
	}
	return b.Bytes()
}

// fade fills lines from top to foot with colours between two.
func fade(m *image.RGBA, top, foot int, from, to color.RGBA) {
	for y := top; y < foot; y++ {
		mix := func(a, b uint8) uint8 { return uint8(int(a) + (int(b)-int(a))*(y-top)/(foot-top)) }
		draw.Draw(m, image.Rect(0, y, demoWidth, y+1), image.NewUniform(color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255}), image.Point{}, draw.Src)
	}
}

// disc adds a circle to a path.
func disc(z *vector.Rasterizer, x, y, r float32) {
	const k = 0.5523 // of the radius: how far the handles of a quarter are
	z.MoveTo(x+r, y)
	z.CubeTo(x+r, y+k*r, x+k*r, y+r, x, y+r)
	z.CubeTo(x-k*r, y+r, x-r, y+k*r, x-r, y)
	z.CubeTo(x-r, y-k*r, x-k*r, y-r, x, y-r)
	z.CubeTo(x+k*r, y-r, x+r, y-k*r, x+r, y)
	z.ClosePath()
}

// gull draws a bird with its wings up. x and y are the corner of its box, which is 560 pixels wide at scale 1.
func gull(m *image.RGBA, x, y, scale float32, c color.RGBA) {
	z := vector.NewRasterizer(demoWidth, demoHeight)
	at := func(px, py float32) (float32, float32) { return x + px*scale, y + py*scale }
	curve := func(ax, ay, bx, by, cx, cy float32) {
		ax, ay = at(ax, ay)
		bx, by = at(bx, by)
		cx, cy = at(cx, cy)
		z.CubeTo(ax, ay, bx, by, cx, cy)
	}
	z.MoveTo(at(0, 230))
	curve(60, 60, 200, 40, 280, 150)
	curve(330, 20, 460, -40, 560, 40)
	curve(470, 20, 400, 90, 360, 180)
	curve(340, 240, 290, 240, 250, 200)
	curve(190, 140, 90, 130, 0, 230)
	z.ClosePath()
	paint(m, z, c, m.Rect)
}

// paint fills a path within a box.
func paint(m *image.RGBA, z *vector.Rasterizer, c color.RGBA, box image.Rectangle) {
	mask := image.NewAlpha(m.Rect)
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	draw.DrawMask(m, box, image.NewUniform(c), image.Point{}, mask, box.Min, draw.Over)
}
