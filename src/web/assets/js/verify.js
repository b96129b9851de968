// SPDX-License-Identifier: Apache-2.0
// verify.js: the page that checks a document. It works without this: what is added is dropping a file, a word while the
// document is sent, and times as the reader writes them.
const { lang } = document.documentElement
const locales = [...navigator.languages.filter(language => language.startsWith(lang)), lang]

function showTimes() {
    const timed = new Intl.DateTimeFormat(locales, { dateStyle: 'long', timeStyle: 'long' })
    for (const time of document.querySelectorAll('time')) time.textContent = timed.format(new Date(time.dateTime))
}

/** While the document is sent, the button does nothing more; who comes back with "Back" finds it as it was. */
function showSending(form, button, live) {
    const { checking } = form.dataset, label = button.textContent
    form.addEventListener('submit', event => {
        if (form.ariaBusy === 'true') event.preventDefault()
        form.ariaBusy = 'true'
        button.textContent = live.textContent = checking
    })
    addEventListener('pageshow', () => {
        form.ariaBusy = 'false'
        button.textContent = label
        live.textContent = ''
    })
}

/** A file that is dropped anywhere on the page is the chosen one, and is checked at once. */
function acceptDrops(form, input) {
    const area = form.querySelector('[data-drop]')
    const hasFiles = event => event.dataTransfer?.types.includes('Files')
    addEventListener('dragover', event => {
        if (!hasFiles(event)) return
        event.preventDefault()
        area.classList.add('over')
    })
    addEventListener('dragleave', event => event.relatedTarget || area.classList.remove('over'))
    addEventListener('drop', event => {
        if (!hasFiles(event)) return
        event.preventDefault()
        area.classList.remove('over')
        if (!event.dataTransfer.files.length) return
        input.files = event.dataTransfer.files
        form.requestSubmit()
    })
}

export function startVerify(main) {
    const form = main.querySelector('[data-check]')
    showTimes()
    showSending(form, form.querySelector('button'), main.querySelector('[data-live]'))
    acceptDrops(form, form.querySelector('input'))
}
