// Messages in the language of the page. English is the source, and needs no file. Pages in another language load their messages
// before this script (package static); `make words` finds those that stand in a call of T or N.

const {words = {}, plural} = globalThis.said ?? {}

// number writes "50,000". A browser's own way to do so costs a page 15 ms before it is first used.
export const number = n => `${n}`.replace(/\B(?=(...)+$)/g, words[','] ?? ',')

const fill = (form, args, next = 0) => form.replace(/%(?:\[(.)\])?[sd]/g, (_, at) => args[at ? at - 1 : next++])

// T is a message; N is one about n things, of which the number is the first argument.
export const T = (id, ...args) => fill(words[id] ?? id, args)
export const N = (one, many, n, ...args) => fill(words[one]?.[plural(n)] ?? (n === 1 ? one : many), [number(n), ...args])
