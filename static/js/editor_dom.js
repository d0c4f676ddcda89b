// Small things to make pages of.

// el makes an element: attributes by name, functions are listeners, children are elements or texts.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value)
    else if (value === true) node.setAttribute(name, '')
    else if (value !== undefined && value !== false && value !== null) node.setAttribute(name, value)
  }
  node.append(...children.flat().filter(c => c !== undefined && c !== null && c !== false))
  return node
}

// field is a labelled input. It tells change what was typed, once it is; an empty answer is none unless it may be.
export function field(label, value, change, attributes = {}) {
  const input = el('input', {value: value ?? '', autocomplete: 'off', name: slug(label), ...attributes, change: () => change(input.value, input)})
  return el('label', {class: attributes.class}, el('span', {}, label), input)
}

export const numberField = (label, value, change, attributes = {}) => field(label, value, text => {
  const n = Number(text.replace(',', '.'))
  if (text.trim() !== '' && Number.isFinite(n)) change(n)
}, {inputmode: 'decimal', ...attributes})

export function choice(label, value, options, change) {
  const select = el('select', {name: slug(label), change: () => change(select.value)}, Object.entries(options).map(([key, name]) => el('option', {value: key, selected: key === value}, name)))
  return el('label', {}, el('span', {}, label), select)
}

export function check(label, value, change) {
  const box = el('input', {type: 'checkbox', name: slug(label), change: () => change(box.checked)})
  box.checked = value === true
  box.indeterminate = value === undefined
  return el('label', {class: 'check'}, box, el('span', {}, label))
}

export const button = (text, click, attributes = {}) => el('button', {type: 'button', click, ...attributes}, text)

export const group = (title, ...children) => el('fieldset', {}, el('legend', {}, title), ...children)

const slug = text => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')

// fill puts children in place of what is there, and the focus back to the field or button of the same name.
export function fill(node, ...children) {
  const active = node.contains(document.activeElement) ? document.activeElement : undefined
  const at = active && [...node.querySelectorAll(active.tagName)].indexOf(active), name = active?.name || active?.textContent
  node.replaceChildren(...children.flat().filter(Boolean))
  if (!active) return
  const same = [...node.querySelectorAll(active.tagName)]
  const next = same.find(n => n.dataset.key && n.dataset.key === active.dataset.key) ?? (((same[at]?.name || same[at]?.textContent) === name) ? same[at] : same.find(n => (n.name || n.textContent) === name))
  next?.focus({preventScroll: true})
}
