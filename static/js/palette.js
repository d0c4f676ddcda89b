// The search of the desk as a palette, on Ctrl K or Cmd K and in the field of each page. Without this, the field leads to the
// page of the search. Its words are in the page, as it is on every one and has no messages of its own.

const form = document.querySelector('[data-seek]'), field = form.q, {none, failed, keys} = form.dataset
let dialog, input, list, said, options = [], chosen = 0, asked, pause

const make = (name, props = {}, ...children) => {
  const at = Object.assign(document.createElement(name), props)
  at.append(...children)
  return at
}

function build() {
  input = make('input', {type: 'search', name: 'q', maxLength: 200, autocomplete: 'off', placeholder: field.placeholder, ariaLabel: field.placeholder})
  for (const [name, value] of [['role', 'combobox'], ['aria-expanded', 'true'], ['aria-controls', 'palette-list'], ['aria-autocomplete', 'list']]) input.setAttribute(name, value)
  list = make('div', {id: 'palette-list', role: 'listbox', ariaLabel: field.placeholder})
  dialog = make('dialog', {className: 'palette', ariaLabel: field.placeholder}, make('form', {action: form.action}, input), list, said = make('p', {role: 'status'}), make('p', {textContent: keys}))
  document.body.append(dialog)
  input.addEventListener('input', () => {
    options = [] // what is shown is not what was typed: until it is found, Enter leads to the page of the search
    choose(0)
    asked?.abort()
    clearTimeout(pause)
    pause = setTimeout(find, 120)
  })
  dialog.addEventListener('keydown', press)
  dialog.addEventListener('click', event => event.target === dialog && dialog.close())
  dialog.firstChild.addEventListener('submit', event => {
    if (!options[chosen]) return
    event.preventDefault()
    location.assign(options[chosen].href)
  })
}

function press(event) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key]
  if (!step || !options.length) return
  event.preventDefault()
  choose((chosen + step + options.length) % options.length)
}

function choose(at) {
  options[chosen]?.setAttribute('aria-selected', 'false')
  chosen = at
  const option = options[chosen]
  if (!option) return input.removeAttribute('aria-activedescendant')
  option.setAttribute('aria-selected', 'true')
  option.scrollIntoView({block: 'nearest'})
  input.setAttribute('aria-activedescendant', option.id)
}

async function find() {
  asked?.abort()
  const mine = asked = new AbortController()
  try {
    const answer = await fetch(`${form.action}?${new URLSearchParams({q: input.value})}`, {headers: {Accept: 'application/json'}, signal: mine.signal})
    if (answer.status === 401) return location.reload()
    if (!answer.ok) return show([], (await answer.json()).error?.message ?? failed)
    show((await answer.json()).groups, none)
  } catch (error) {
    if (mine === asked && error.name !== 'AbortError') show([], failed)
  }
}

function show(groups, otherwise) {
  options = []
  list.replaceChildren(...groups.map((group, n) => {
    const box = make('div', {role: 'group'}, make('div', {id: `palette-${n}`, className: 'kind', textContent: group.title}))
    box.setAttribute('aria-labelledby', `palette-${n}`)
    for (const {title, detail, path} of group.results) {
      if (!path) continue
      const option = make('a', {href: path, id: `palette-option-${options.length}`, role: 'option', tabIndex: -1}, make('b', {textContent: title}), ' ', make('span', {textContent: detail}))
      option.setAttribute('aria-selected', 'false')
      options.push(option)
      box.append(option)
    }
    return box
  }))
  list.hidden = !options.length
  said.textContent = options.length ? '' : otherwise
  choose(0)
}

function open() {
  if (!dialog) build()
  if (dialog.open) return
  input.value = field.value
  dialog.showModal()
  input.select()
  find()
}

field.addEventListener('pointerdown', event => {
  event.preventDefault()
  open()
})
document.addEventListener('keydown', event => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key?.toLowerCase() === 'k') {
    event.preventDefault()
    open()
  }
})
