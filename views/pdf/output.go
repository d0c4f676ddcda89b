package pdf

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
)

// file is a PDF that is written.
type file struct {
	bytes.Buffer
	offsets []int // of objects, from 1 on
}

// reserve is the number of an object that is written later.
func (f *file) reserve() int {
	f.offsets = append(f.offsets, 0)
	return len(f.offsets)
}

// object writes one under its number.
func (f *file) object(number int, format string, values ...any) int {
	f.offsets[number-1] = f.Len()
	fmt.Fprintf(f, "%d 0 obj\n"+format+"\nendobj\n", append([]any{number}, values...)...)
	return number
}

func (f *file) add(format string, values ...any) int { return f.object(f.reserve(), format, values...) }

// stream writes one with content; entries are those of its dictionary besides the length.
func (f *file) stream(entries string, content []byte) int {
	return f.add("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

// packed is stream with content that is compressed.
func (f *file) packed(entries string, content []byte) int {
	return f.stream(fmt.Sprintf("%s /Filter /FlateDecode /Length1 %d", entries, len(content)), deflated(content))
}

// Output is the document as a file.
func (d *Document) Output() []byte {
	f := &file{}
	f.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	tree := f.reserve()
	resources := f.reserve()
	var kids, fonts, images strings.Builder
	for _, p := range d.pages {
		content := f.packed("", p.content.Bytes())
		fmt.Fprintf(&kids, "%d 0 R ", f.add("<<\n/Type /Page\n/Parent %d 0 R /MediaBox [0 0 %.2f %.2f] /Resources %d 0 R /Contents %d 0 R\n>>",
			tree, p.width*mm, p.height*mm, resources, content))
	}
	f.object(tree, "<< /Type /Pages /Count %d /Kids [%s] >>", len(d.pages), kids.String())
	for i, e := range d.fonts {
		fmt.Fprintf(&fonts, "/F%d %d 0 R ", i, e.write(f))
	}
	for i, m := range d.images {
		fmt.Fprintf(&images, "/I%d %d 0 R ", i, f.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d %s", m.Width, m.Height, m.entries), m.content))
	}
	f.object(resources, "<< /Font << %s>> /XObject << %s>> >>", fonts.String(), images.String())
	at := d.At.UTC().Format("20060102150405") + "Z"
	info := f.add("<<\n/Producer %s /Title %s /CreationDate (D:%s) /ModDate (D:%s)\n>>", textOf(Producer), textOf(d.Title), at, at)
	root := f.add("<<\n/Type /Catalog\n/Pages %d 0 R /Lang %s /ViewerPreferences << /DisplayDocTitle true >>\n%s>>", tree, textOf(d.Language), d.extras(f))
	start := f.Len()
	fmt.Fprintf(f, "xref\n0 %d\n0000000000 65535 f \n", len(f.offsets)+1)
	for _, offset := range f.offsets {
		fmt.Fprintf(f, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(f, "trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %d 0 R\n>>\nstartxref\n%d\n%%%%EOF\n", len(f.offsets)+1, root, info, start)
	return f.Bytes()
}

// extras are the entries of the catalog that a document may have: metadata, and what its colors are.
func (d *Document) extras(f *file) (entries string) {
	if d.Metadata != nil {
		entries += fmt.Sprintf("/Metadata %d 0 R\n", f.stream("/Type /Metadata /Subtype /XML", d.Metadata))
	}
	if d.Profile != nil {
		profile := f.packed("/N 3", d.Profile)
		entries += fmt.Sprintf("/OutputIntents [<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) /Info (sRGB) /DestOutputProfile %d 0 R >>]\n", profile)
	}
	return entries
}

func textOf(text string) string { return "<FEFF" + hexText(text) + ">" }

// write writes a font, and returns the number of its object.
func (e *embedded) write(f *file) int {
	units := float64(e.face.Upem())
	scale := func(v int16) int { return int(float64(v) * 1000 / units) }
	program, box := e.program()
	content := f.packed("", program)
	name := subsetName(program, e.name)
	descriptor := f.add("<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%d %d %d %d] /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %d 0 R >>",
		name, scale(box.left), scale(box.bottom), scale(box.right), scale(box.top), scale(box.top), scale(box.bottom), scale(box.top), content)
	glyphs := f.add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /CIDToGIDMap /Identity /W %s >>",
		name, descriptor, e.widths())
	return f.add("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", name, glyphs, f.packed("", e.meaning()))
}

// subsetName is the name of a part of a font: six letters of its own, and the name of the whole (ISO 32000-1, 9.6.4).
func subsetName(program []byte, file string) string {
	sum := crc32.ChecksumIEEE(program)
	tag := make([]byte, 6)
	for i := range tag {
		tag[i] = 'A' + byte(sum%26)
		sum /= 26
	}
	file, _, _ = strings.Cut(file, ".")
	return string(tag) + "+" + strings.ReplaceAll(file, "-", "")
}
