// The time of the box office, as well as a page knows it. What counts down does so by this clock: it goes on as the machine's
// does without being set, and is asked for anew after the machine slept.

const READINGS = 8, LEAP = 500 // ms by which a clock of this machine jumps when it slept or was set
export const LATE = 4000 // ms without a sign of life after which a page may be behind

const lag = () => Date.now() - performance.now()

// Clock sends "wake" when the page may have been away: one clock of the machine jumped and the other did not, or a page in
// view did nothing for some seconds.
class Clock extends EventTarget {
  #offset = lag() // database time minus this page's
  #readings = [] // of the database's clock, the last few; clocks drift, so that old ones do not count
  #lag = lag()
  #looked = performance.now()
  #watch

  // now is the database's time in ms since 1970.
  now() { return performance.now() + this.#offset }

  // measure takes a reading of the database's clock; of the last ones that with the shortest round trip counts.
  measure(now, trip) {
    this.#readings = [...this.#readings.slice(1 - READINGS), {trip, offset: now + trip / 2 - performance.now()}]
    this.#offset = this.#readings.reduce((best, r) => r.trip <= best.trip ? r : best).offset
  }
  anew() { this.#readings = [] }

  watch() { this.#watch ??= setInterval(() => this.#look(), 1000) }
  #look() {
    const before = this.#lag, looked = this.#looked
    this.#lag = lag()
    this.#looked = performance.now()
    const leapt = Math.abs(this.#lag - before) > LEAP
    if (leapt) this.anew()
    if (leapt || this.#looked - looked > LATE && !document.hidden) this.dispatchEvent(new CustomEvent('wake', {detail: {leapt}}))
  }
}

export const clock = new Clock()
