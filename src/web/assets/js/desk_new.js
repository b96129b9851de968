// SPDX-License-Identifier: Apache-2.0
// desk_new.js: the form of a new request, which works without it. With it, files can be dropped and are listed, rows
// are added and removed without loading the page again, and files that are too large are seen before they are sent.

const form = document.querySelector('[data-request]')

const PDF = /\.pdf$/i

function prepareFiles(input) {
    const { files: most, bytes, all } = input.dataset, panel = input.closest('section')
    const list = panel.querySelector('[data-chosen]'), { content } = panel.querySelector('[data-chosen-row]')
    const large = panel.querySelector('[data-large]'), name = form.elements.namedItem('name')
    const sizeOf = size => new Intl.NumberFormat(document.documentElement.lang, {
        style: 'unit', unit: size < 1e6 ? 'kilobyte' : 'megabyte', maximumSignificantDigits: 2,
    }).format(size / (size < 1e6 ? 1e3 : 1e6))
    let chosen = []

    const row = file => {
        const item = content.cloneNode(true).firstElementChild, button = item.querySelector('button')
        for (const name of item.querySelectorAll('bdi')) name.textContent = file.name
        item.querySelector('.hint').textContent = sizeOf(file.size)
        button.addEventListener('click', () => {
            set(chosen.filter(other => other !== file))
            input.focus()
        })
        return item
    }
    const set = files => {
        const carrier = new DataTransfer()
        for (const file of files) carrier.items.add(file)
        input.files = carrier.files
        chosen = files
        const tooLarge = files.length > Number(most) || files.some(({ size }) => size > Number(bytes))
            || files.reduce((sum, { size }) => sum + size, 0) > Number(all)
        large.hidden = !tooLarge
        input.setCustomValidity(tooLarge ? large.textContent : '')
        list.hidden = !files.length
        list.replaceChildren(...files.map(row))
        if (files.length && !name.value) name.value = files[0].name.replace(PDF, '')
    }
    const isNew = file => !chosen.some(({ name: known, size }) => known === file.name && size === file.size)
    const add = files => set([...chosen, ...[...files].filter(isNew)])

    input.addEventListener('change', () => add(input.files))
    const isFile = event => event.dataTransfer?.types.includes('Files')
    for (const type of ['dragover', 'dragleave', 'drop'])
        panel.addEventListener(type, event => {
            if (!isFile(event)) return
            event.preventDefault()
            panel.classList.toggle('over', type === 'dragover')
            if (type === 'drop') add([...event.dataTransfer.files].filter(file => PDF.test(file.name)))
        })
    if (input.files.length) add(input.files)
}

// --- rows

/** Numbers what a row has: its ids, what refers to them, its legend and its button. */
function renumber(row, number) {
    for (const element of [row, ...row.querySelectorAll('*')]) {
        for (const key of ['id', 'for', 'aria-describedby']) {
            const value = element.getAttribute(key)
            if (value) element.setAttribute(key, value.replace(/-\d+(?=-|$|\s)/g, `-${number}`))
        }
    }
    const remove = row.querySelector('[name=remove]')
    for (const element of [row.querySelector('legend'), remove.querySelector('span')])
        element.textContent = element.textContent.replace(/\d+/, number)
    remove.value = remove.value.replace(/\d+/, number)
}

const rowsOf = section => [...section.querySelectorAll('[data-row]')]

function prepareRows(section) {
    const add = section.querySelector('[name=add]'), blank = section.querySelector('template')
    if (!add) return // a template says how many there are
    const update = () => {
        const rows = rowsOf(section)
        rows.forEach((row, at) => renumber(row, at + 1))
        return rows
    }
    add.addEventListener('click', event => {
        event.preventDefault()
        const row = blank.content.cloneNode(true).firstElementChild, last = rowsOf(section).at(-1)
        const orders = [row, last].map(each => each?.querySelector('[type=number]'))
        if (orders[1]) orders[0].value = orders[1].value
        add.before(row)
        update()
        row.querySelector('input').focus()
    })
    section.addEventListener('click', event => {
        const button = event.target.closest('[name=remove]')
        if (!button) return
        event.preventDefault()
        const row = button.closest('[data-row]'), at = rowsOf(section).indexOf(row)
        row.remove()
        const rows = update(), next = rows[Math.min(at, rows.length - 1)]
        ;(next?.querySelector('input') ?? add).focus()
    })
}

// --- sending

function prepareSending(button) {
    const text = button.textContent
    const set = busy => {
        button.disabled = busy
        form.ariaBusy = String(busy)
        button.textContent = busy ? button.dataset.busy : text
    }
    form.addEventListener('submit', () => set(true))
    addEventListener('pageshow', () => set(false))
}

const input = form.querySelector('[type=file]')
if (input) prepareFiles(input)
for (const section of form.querySelectorAll('[data-rows]')) prepareRows(section)
prepareSending(form.querySelector('[data-go]'))
