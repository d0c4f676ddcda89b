// How many tickets the page of the door says are stored on a phone.

import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import test from 'node:test'

const source = readFileSync(new URL('js/door.js', import.meta.url), 'utf8')

// told is what the page says, with these tickets and scans.
function told(source, tickets, scans = []) {
  const from = source.indexOf('const admitting'), to = source.indexOf('const LETTERS')
  const line = {}, known = new Map(tickets.map((ticket, id) => [id, ticket]))
  new Function('waiting', 'line', 'known', 'N', source.slice(from, to) + '; tell()')(() => scans, line, known, (one, more, n) => (n === 1 ? one : more).replace('%d', n))
  return line.textContent
}

const cancelled = {revoked: true, seat: 'A 2'}

test('a door counts the tickets that admit', () => {
  assert.match(told(source, [{seat: 'A 1'}, cancelled, {seat: 'A 3', in: 'before'}]), /^2 tickets are stored/)
  assert.match(told(source, [{seat: 'A 1'}, cancelled]), /^1 ticket is stored/)
  assert.equal(told(source, [cancelled]), '')
  assert.match(told(source, [{seat: 'A 1'}], [{key: 'k'}]), /^1 scan waits/)
})

test('a count of all that is stored is noticed', () => {
  const wrong = source.replace('.filter(ticket => !ticket.revoked)', '')
  assert.notEqual(wrong, source)
  assert.match(told(wrong, [{seat: 'A 1'}, cancelled]), /^2 tickets/)
})
