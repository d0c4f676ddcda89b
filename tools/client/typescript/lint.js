// Lints the description of the API by the recommended rules of Redocly. Of refusals, the description has one for all of an operation
// (default), so the rule that asks for each by its status is off.

import {createConfig, lint} from '@redocly/openapi-core'

const config = await createConfig({extends: ['recommended'], rules: {'operation-4xx-response': 'off'}})
const found = await lint({ref: process.argv[2], config})
for (const {severity, ruleId, location: [at], message} of found) console.error(`${at?.source.absoluteRef}${at?.pointer ?? ''}: ${severity} ${ruleId}: ${message}`)
process.exit(found.length ? 1 : 0)
