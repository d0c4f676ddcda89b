package invoices

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// XMLName is the name of the XML in the PDF, as Factur-X and ZUGFeRD fix it.
const XMLName = "factur-x.xml"

const extensionSchema = `
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>fx</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq>%s</rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
<fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>` + XMLName + `</fx:DocumentFileName><fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
</rdf:Description>`

const extensionProperty = `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>%s</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>%s</pdfaProperty:description></rdf:li>`

// Metadata is the XMP of a document's PDF: it is PDF/A-3, and with the XML it is Factur-X.
func (d Document) Metadata(title, producer string) []byte {
	var b strings.Builder
	at := d.IssuedAt.UTC().Format("2006-01-02T15:04:05Z")
	b.WriteString("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n")
	fmt.Fprintf(&b, `<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"><pdfaid:part>3</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance></rdf:Description>
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/"><pdf:Producer>%s</pdf:Producer></rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:CreateDate>%s</xmp:CreateDate><xmp:ModifyDate>%s</xmp:ModifyDate></rdf:Description>`,
		escaped(title), escaped(producer), at, at)
	if d.Electronic() {
		properties := ""
		for _, p := range [][2]string{{"DocumentFileName", "name of the embedded XML"}, {"DocumentType", "INVOICE"}, {"Version", "of the XML schema"}, {"ConformanceLevel", "of the XML"}} {
			properties += fmt.Sprintf(extensionProperty, p[0], p[1])
		}
		fmt.Fprintf(&b, extensionSchema, properties)
	}
	b.WriteString("\n</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>")
	return []byte(b.String())
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}

var (
	rootOf    = regexp.MustCompile(`/Size (\d+)\s+/Root (\d+) 0 R`)
	infoOf    = regexp.MustCompile(`\n(\d+) 0 obj\n<<\n/Producer`)
	startOf   = regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`)
	namesOf   = regexp.MustCompile(`(?s)/Names <<.*$`)
	errNoPDF  = errors.New("invoices: the PDF has another structure than it is written with")
	fileTable = `<< /Type /EmbeddedFile /Subtype /text#2Fxml /Params << /Size %d /ModDate (D:%s) >> /Length %d >>`
)

// Embed makes a document's PDF complete as PDF/A-3: with a file identifier, and with the XML if the document has one. It
// appends to the file, which stays as it is (ISO 32000-1, 7.5.6).
func (d Document) Embed(pdf []byte) ([]byte, error) {
	trailer, info, start := rootOf.FindSubmatch(pdf), infoOf.FindSubmatch(pdf), startOf.FindSubmatch(pdf)
	if trailer == nil || info == nil || start == nil {
		return nil, errNoPDF
	}
	size, _ := strconv.Atoi(string(trailer[1]))
	root := string(trailer[2])
	_, catalog, _ := bytes.Cut(pdf, []byte("\n"+root+" 0 obj\n<<"))
	catalog, _, found := bytes.Cut(catalog, []byte(">>\nendobj"))
	if !found {
		return nil, errNoPDF
	}
	entries := namesOf.ReplaceAllString(string(catalog), "")
	u := update{pdf: bytes.NewBuffer(bytes.Clone(pdf))}
	if d.Electronic() {
		content, err := d.XML()
		if err != nil {
			return nil, err
		}
		u.object(size, fmt.Sprintf(fileTable, len(content), d.IssuedAt.UTC().Format("20060102150405")+"Z", len(content))+"\nstream\n"+string(content)+"\nendstream")
		u.object(size+1, fmt.Sprintf(`<< /Type /Filespec /F (%s) /UF (%s) /AFRelationship /Alternative /Desc (Invoice data) /EF << /F %d 0 R /UF %d 0 R >> >>`, XMLName, XMLName, size, size))
		entries += fmt.Sprintf("/Names << /EmbeddedFiles << /Names [(%s) %d 0 R] >> >>\n/AF [%d 0 R]\n", XMLName, size+1, size+1)
		size += 2
	}
	number, _ := strconv.Atoi(root)
	u.object(number, "<<"+entries+">>")
	u.end(size, fmt.Sprintf("/Root %s 0 R /Info %s 0 R /Prev %s", root, info[1], start[1]))
	return u.pdf.Bytes(), nil
}

// update is objects that are appended to a PDF.
type update struct {
	pdf  *bytes.Buffer
	refs []string
}

func (u *update) object(number int, content string) {
	u.refs = append(u.refs, fmt.Sprintf("%d 1\n%010d 00000 n \n", number, u.pdf.Len()))
	fmt.Fprintf(u.pdf, "%d 0 obj\n%s\nendobj\n", number, content)
}

func (u *update) end(size int, trailer string) {
	at := u.pdf.Len()
	id := fmt.Sprintf("%X", sha256.Sum256(u.pdf.Bytes()))[:32]
	fmt.Fprintf(u.pdf, "xref\n%strailer\n<< /Size %d %s /ID [<%s> <%s>] >>\nstartxref\n%d\n%%%%EOF\n", strings.Join(u.refs, ""), size, trailer, id, id, at)
}

// SRGB is an ICC profile of the color space of the PDF (ICC.1:2001-04): the primaries of IEC 61966-2-1, adapted to D50, and
// a gamma of 2.2.
func SRGB() []byte {
	fixed := func(v float64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(v*65536))) }
	xyz := func(x, y, z float64) []byte {
		return bytes.Join([][]byte{[]byte("XYZ \x00\x00\x00\x00"), fixed(x), fixed(y), fixed(z)}, nil)
	}
	name := "sRGB\x00"
	description := append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x05"+name), make([]byte, 78)...)
	curve := []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33")
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", description},
		{"cprt", []byte("text\x00\x00\x00\x00No copyright\x00")},
		{"wtpt", xyz(0.9642, 1, 0.8249)},
		{"rXYZ", xyz(0.4360, 0.2225, 0.0139)},
		{"gXYZ", xyz(0.3851, 0.7169, 0.0971)},
		{"bXYZ", xyz(0.1431, 0.0606, 0.7141)},
		{"rTRC", curve},
		{"gTRC", curve},
		{"bTRC", curve},
	}
	table, data := binary.BigEndian.AppendUint32(nil, uint32(len(tags))), []byte{}
	for _, t := range tags {
		table = append(table, t.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(128+4+12*len(tags)+len(data)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(t.data)))
		data = append(data, t.data...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	header := make([]byte, 128)
	binary.BigEndian.PutUint32(header, uint32(128+len(table)+len(data)))
	copy(header[8:], "\x02\x10\x00\x00mntrRGB XYZ ")
	for i, v := range []uint16{2026, 1, 1, 0, 0, 0} {
		binary.BigEndian.PutUint16(header[24+2*i:], v)
	}
	copy(header[36:], "acsp")
	copy(header[68:], bytes.Join([][]byte{fixed(0.9642), fixed(1), fixed(0.8249)}, nil))
	return append(append(header, table...), data...)
}
