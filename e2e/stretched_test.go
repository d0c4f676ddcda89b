package e2e

// pseudo writes every text of a page as a language would that needs two fifths more letters, with accents and between brackets;
// back takes it away. No script of the page runs meanwhile.
const pseudo = `(() => {
	const accents = {a: 'á', c: 'ç', e: 'é', i: 'î', n: 'ñ', o: 'ö', s: 'š', u: 'ü', A: 'Å', E: 'É', I: 'Î', O: 'Ö', S: 'Š', U: 'Ü'}
	const stretch = text => {
		const words = text.replace(/[a-z]/gi, l => accents[l] ?? l), more = Math.ceil(text.trim().length * .4)
		return '[' + words.trim() + (more > 9 ? ' ' + 'žužužu '.repeat(more / 7 + 1) : 'ž'.repeat(Math.max(0, more - 2))).trimEnd() + ']'
	}
	const undo = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let node; node = walker.nextNode();) {
		const {data} = node, at = node.parentElement
		if (!/\p{L}{2}/u.test(data) || at.closest('script, style, template, noscript, code, pre, textarea, [data-code], [lang], .here, .codes')) continue
		undo.push(() => { node.data = data })
		node.data = data.replace(data.trim(), stretch(data))
	}
	const back = () => undo.forEach(f => f())
	try {
		const wide = document.scrollingElement.scrollWidth - innerWidth, cut = ` + cutOff + `
		return [wide > 0 && wide + ' pixels wider than the window', cut && 'cut off: ' + cut].filter(Boolean).join(', ')
	} finally {
		back()
	}
})()`

// fitsStretched holds a page to a language of longer words: nothing scrolls sideways, and nothing is cut off.
func (p *person) fitsStretched(name string) {
	p.t.Helper()
	wrong, err := p.page.Evaluate(pseudo)
	check(p.t, err)
	if wrong != "" {
		p.t.Errorf("%s, with texts that are 40 %% longer: %v", name, wrong)
	}
}
