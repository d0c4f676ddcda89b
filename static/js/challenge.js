// The page that checks a browser: it does the work and goes on. Where that fails, the form is there for those who wait.

const form = document.querySelector('form'), show = working => {
  form.querySelector('[data-work]').hidden = !working
  form.querySelector('[data-patience]').hidden = working
}

show(true)
import('usher/work').then(({pass}) => pass(document.body.dataset.event)).then(() => location.replace(form.from.value)).catch(err => {
  console.warn(err)
  show(false)
})
