// The element <usher-event>, which organizers put on their own sites: docs/embedding.md. It shows what an event costs and what is
// left, and its pages in a frame or a dialog. What stands inside the element is shown until then, and if that fails.

{
  const script = document.currentScript ?? document.querySelector('script[src$="/embed.js"]')
  const home = new URL(script.src).origin
  const WIDE = 700, PATIENCE = 6000 // pixels; milliseconds from when a frame was loaded until its page has said so

  const sheet = new CSSStyleSheet()
  sheet.replaceSync(`
    :host { display: block } :host([scheme=dark]) dialog { color-scheme: dark } :host([scheme=light]) dialog { color-scheme: light } [hidden] { display: none !important }
    p { margin: 0 0 .5em } b { font-weight: 600 } span + span::before { content: " · " }
    button, a { font: inherit } button { cursor: pointer }
    .open { min-height: 44px; padding: .6em 1.4em; border: 0; border-radius: 8px; background: #1c1c22; color: #fff; font-weight: 600 }
    :is(button, a, iframe):focus-visible { outline: 3px solid #3b6cf6; outline-offset: 2px }
    iframe { display: block; width: 100%; height: min(760px, 90vh); min-height: 420px; border: 0; color-scheme: inherit }
    dialog { color-scheme: light dark; box-sizing: border-box; width: min(1100px, 100vw); height: min(900px, 100dvh); max-width: none; max-height: none; padding: 0; border: 0; overflow: hidden; background: Canvas; color: CanvasText }
    dialog[open] { display: flex; flex-direction: column } dialog iframe { flex: 1; min-height: 0; height: auto !important } dialog::backdrop { background: #000a }
    header { display: flex; justify-content: space-between; align-items: center; gap: 1em; padding: .25em .75em; border-bottom: 1px solid #8886 }
    header button { min-width: 44px; min-height: 44px; border: 0; background: none; color: inherit } header a { color: inherit }
    @media (min-width: 1101px) { dialog { border-radius: 12px } }`)

  const make = (tag, fields, ...children) => {
    const element = Object.assign(document.createElement(tag), fields)
    element.append(...children)
    return element
  }

  class UsherEvent extends HTMLElement {
    async connectedCallback() {
      if (this.shadowRoot) return
      const series = this.getAttribute('series'), slug = series ?? this.getAttribute('slug') ?? ''
      this.path = `${home}/${series ? 'series' : 'events'}/${encodeURIComponent(slug)}`
      this.link = make('a', {href: this.path, target: '_blank', rel: 'noopener', textContent: this.path})
      this.instead = make('slot', {}, this.link)
      const root = this.attachShadow({mode: 'open'})
      root.adoptedStyleSheets = [sheet]
      root.append(this.instead)
      this.lang ||= this.closest('[lang]')?.lang ?? ''
      const answer = await fetch(`${this.path}/badge?lang=${encodeURIComponent(this.lang)}`).catch(() => 0)
      if (answer.ok) this.show(root, (await answer.json()).words)
    }

    show(root, words) {
      this.words = words
      this.link.textContent = words.tab
      const badge = make('p', {part: 'badge'}, ...[words.price, words.left].filter(Boolean).map(text => make('span', {}, make('b', {textContent: text}))))
      if (this.getAttribute('badge') !== 'none') root.prepend(badge)
      const mode = this.getAttribute('mode') ?? (this.clientWidth < WIDE ? 'dialog' : 'frame')
      if (mode === 'badge') return
      this.instead.hidden = true
      if (mode === 'frame') return root.append(this.frame())
      this.button = make('button', {className: 'open', part: 'button', textContent: words.open, onclick: () => this.open(root)})
      this.button.setAttribute('aria-haspopup', 'dialog')
      root.append(this.button)
    }

    open(root) {
      this.dialog ??= root.appendChild(make('dialog', {part: 'dialog', ariaLabel: this.words.title},
        make('header', {}, make('a', {href: this.path, target: '_blank', rel: 'noopener', textContent: this.words.tab}),
          make('button', {textContent: this.words.close, onclick: () => this.dialog.close()})),
        this.frame()))
      this.dialog.showModal()
    }

    // frame makes the frame. What it says counts only if it comes from a page of the box office in it.
    frame() {
      const scheme = this.getAttribute('scheme') ?? '', lang = this.lang.split('-')[0]
      const frame = make('iframe', {title: this.words.title, part: 'frame', src: `${this.path}/embed?${new URLSearchParams({lang, scheme})}`})
      let heard = false
      const look = () => heard || this.fail(frame)
      addEventListener('message', ({origin, source, data}) => {
        if (origin !== home || source !== frame.contentWindow || !data?.usher) return
        if (heard && data.usher === 'page' && frame.getBoundingClientRect().top < 0) frame.scrollIntoView()
        heard = true
        frame.style.height = data.height > 0 ? Math.min(Math.max(data.height, 420), 6000) + 'px' : ''
      })
      frame.addEventListener('load', () => setTimeout(look, PATIENCE), {once: true})
      setTimeout(look, 4 * PATIENCE) // not every browser says that it loaded what it refuses to show
      return frame
    }

    // fail shows what stands inside the element: the frame was refused, as on a site that the team does not list.
    fail(frame) {
      for (const part of [this.dialog, this.button, frame]) part?.remove()
      this.instead.hidden = false
    }
  }

  customElements.get('usher-event') ?? customElements.define('usher-event', UsherEvent)
}
