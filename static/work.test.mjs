// The solver that browsers have, on the work that the server's tests write and solve in their own way.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'
import vm from 'node:vm'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const golden = JSON.parse(read('../seats/waitingroom/testdata/work.json'))

// worker is the solver as a worker runs it; found is told what it found.
function worker(found) {
  const self = {postMessage: found}
  vm.runInNewContext(read('js/altcha.js'), {self, crypto, performance, setTimeout, TextEncoder, AbortController})
  return {postMessage: data => self.onmessage({data})}
}

for (const {challenge, solution} of golden) {
  test(`the browser finds what the server does, with ${challenge.parameters.cost} rounds`, async () => {
    const found = await new Promise(found => worker(found).postMessage({type: 'work', challenge, counterStart: 0, counterStep: 1}))
    assert.equal(found.counter, solution.counter)
    assert.equal(found.derivedKey, solution.derivedKey)
  })
}

test('workers share the work and leave nothing out', async () => {
  const {challenge, solution} = golden[0], step = 4, start = solution.counter % step
  const found = await new Promise(found => worker(found).postMessage({type: 'work', challenge, counterStart: start, counterStep: step}))
  assert.equal(found.counter, solution.counter)
})
