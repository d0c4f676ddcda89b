// Loads scripts of the pages under node, by their bare names, if need be with a fault planted in one of them.

import assert from 'node:assert/strict'
import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'

const js = new URL('../js/', import.meta.url)

// modules imports scripts: {model: …} for usher/editor_model. A fault is [script, what stands there, what shall].
export async function modules(names, fault) {
  const dir = mkdtempSync(join(tmpdir(), 'usher-scripts-'))
  try {
    for (const file of readdirSync(js).filter(f => /^(editor|geometry|text)/.test(f))) {
      let source = readFileSync(new URL(file, js), 'utf8')
      if (fault && file === `${fault[0]}.js`) {
        assert.ok(source.includes(fault[1]), `${file} has no ${fault[1]} any more`)
        source = source.replace(fault[1], fault[2])
      }
      writeFileSync(join(dir, file.replace(/\.js$/, '.mjs')), source.replace(/'usher\/(\w+)'/g, "'./$1.mjs'"))
    }
    const loaded = await Promise.all(names.map(name => import(join(dir, `${name}.mjs`))))
    return Object.assign({}, ...loaded)
  } finally {
    rmSync(dir, {recursive: true})
  }
}
