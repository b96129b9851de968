// textlayer.js: the words of a page, unseen, each over its own image: that is what is selected, found and read aloud.
import { text } from './texts.js'

const FONT = 'sans-serif'
const measure = document.createElement('canvas').getContext('2d')

/** A word as wide and as high as the page has it. */
function wordOf([word, left, top, width, height], aspect) {
    const span = document.createElement('span')
    span.textContent = `${word} `
    measure.font = `100px ${FONT}`
    const natural = (measure.measureText(word).width / 100) * height / aspect // percent of the page's width
    Object.assign(span.style, {
        left: `${left}%`, top: `${top}%`, fontSize: `${height}cqh`,
        transform: natural ? `scaleX(${(width / natural).toFixed(4)})` : '',
    })
    return span
}

async function fetchText(url) {
    const answer = await fetch(url)
    if (!answer.ok) throw new Error(String(answer.status))
    return answer.json()
}

function build(page, { width, height, lines }) {
    const layer = document.createElement('div')
    layer.className = 'text'
    layer.dir = 'auto'
    for (const line of lines) {
        const row = document.createElement('p')
        row.append(...line.map(word => wordOf(word, width / height)))
        layer.append(row)
    }
    if (lines.length) {
        page.img.alt = '' // the group around it has its name, and the words are there
    } else {
        layer.className = 'hidden'
        layer.textContent = text('page.picture')
    }
    page.img.after(layer)
}

/** Once for each page. Without its text a page is as good as before: nobody is bothered, and it is tried again. */
export async function layText(page, url) {
    if (page.text) return
    page.text = true
    try {
        build(page, await fetchText(url))
    } catch {
        page.text = false
    }
}
