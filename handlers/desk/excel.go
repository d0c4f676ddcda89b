package desk

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// excelSheet writes an Office Open XML workbook of one sheet, row by row. Its texts are typed as texts, which no program takes
// for formulas.
type excelSheet struct {
	file *zip.Writer
	out  *bufio.Writer // of the sheet
	zone *time.Location
	rows int
}

const excelSpace = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`

// excelParts are the files of a workbook beside its sheet. Style 1 is the bold first row, style 2 a time.
var excelParts = [][2]string{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>
<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook ` + excelSpace + ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/styles.xml", `<styleSheet ` + excelSpace + `><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts>
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`},
}

const excelHead = `<worksheet ` + excelSpace + `><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>
<cols><col min="1" max="12" width="20" customWidth="1"/></cols><sheetData>`

func newExcel(w io.Writer, zone *time.Location) (*excelSheet, error) {
	s := &excelSheet{file: zip.NewWriter(w), zone: zone}
	for _, part := range excelParts {
		to, err := s.file.Create(part[0])
		if err == nil {
			_, err = io.WriteString(to, xml.Header+part[1])
		}
		if err != nil {
			return nil, err
		}
	}
	sheet, err := s.file.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewWriter(sheet)
	_, err = s.out.WriteString(xml.Header + excelHead)
	return s, err
}

// excelZero is the day 0 of spreadsheets.
var excelZero = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

func (s *excelSheet) row(cells ...any) error {
	style := ""
	if s.rows++; s.rows == 1 {
		style = ` s="1"`
	}
	s.out.WriteString("<row>")
	for _, cell := range cells {
		switch v := cell.(type) {
		case nil:
			s.out.WriteString("<c/>")
		case amount:
			fmt.Fprintf(s.out, "<c%s><v>%s</v></c>", style, v.text())
		case int:
			fmt.Fprintf(s.out, "<c%s><v>%d</v></c>", style, v)
		case time.Time:
			at := v.In(s.zone)
			days := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC).Sub(excelZero).Seconds() / (24 * 60 * 60)
			fmt.Fprintf(s.out, `<c s="2"><v>%s</v></c>`, strconv.FormatFloat(days, 'f', 10, 64))
		case string:
			fmt.Fprintf(s.out, `<c t="inlineStr"%s><is><t xml:space="preserve">`, style)
			if err := xml.EscapeText(s.out, []byte(printable(v))); err != nil {
				return err
			}
			s.out.WriteString("</t></is></c>")
		default:
			return fmt.Errorf("a cell of a list is a %T", cell)
		}
	}
	_, err := s.out.WriteString("</row>") // a writer that failed before fails here, too
	return err
}

// printable leaves out what XML cannot say.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

func (s *excelSheet) end() error {
	_, err := s.out.WriteString("</sheetData></worksheet>")
	return errors.Join(err, s.out.Flush(), s.file.Close())
}
