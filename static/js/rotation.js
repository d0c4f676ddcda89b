// The letters behind a ticket's code that hold for a moment, as package orders makes them.

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ', SLACK = 2 // steps that a code may be older or newer than the clock of the door
export const STEP = 15000 // ms

export const stepAt = now => Math.floor(now / STEP)

// lettersOf are those of a ticket in a step; rotation is its key, in base64.
export async function lettersOf(rotation, step) {
  const raw = Uint8Array.from(atob(rotation), c => c.charCodeAt(0)), at = new DataView(new ArrayBuffer(8))
  at.setBigUint64(0, BigInt(step))
  const key = await crypto.subtle.importKey('raw', raw, {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
  const bits = new DataView(await crypto.subtle.sign('HMAC', key, at)).getUint32(0) >>> 7
  return [20, 15, 10, 5, 0].map(from => LETTERS[bits >> from & 31]).join('')
}

// isOfMoment reports whether letters are those of a step around a moment.
export async function isOfMoment(rotation, letters, now) {
  for (let step = stepAt(now) - SLACK; step <= stepAt(now) + SLACK; step++) if (await lettersOf(rotation, step) === letters) return true
  return false
}
