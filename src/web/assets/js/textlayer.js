// SPDX-License-Identifier: Apache-2.0
// textlayer.js: the words of a page, unseen, over their own image: that is what is selected, found and read aloud.
import { text } from './texts.js'

const FONT = 'sans-serif'
const measure = document.createElement('canvas').getContext('2d')

/** Words of a line that follow each other; a gap of two letters begins a new one, as between the cells of a table. */
function runsOf(line, aspect) {
    const runs = []
    for (const [word, left, top, width, height] of line) {
        const run = runs.at(-1)
        if (run && left >= run.left && left - run.right < (2 * height) / aspect) {
            run.text += ` ${word}`
            run.right = left + width
            run.bottom = Math.max(run.bottom, top + height)
            run.top = Math.min(run.top, top)
        } else {
            runs.push({ text: word, left, top, right: left + width, bottom: top + height })
        }
    }
    return runs
}

/** [top, height] of a line. */
const boundsOf = line => {
    const top = Math.min(...line.map(word => word[2]))
    return [top, Math.max(...line.map(word => word[2] + word[4])) - top]
}

/** Lines of one height that are close together are read without a stop. */
function paragraphsOf(lines) {
    const paragraphs = []
    let last = null
    for (const line of lines) {
        const [top, height] = boundsOf(line), gap = last && top - last[0] - last[1]
        const follows = last && Math.abs(height - last[1]) < 0.2 * last[1] && gap > -last[1] && gap < 0.8 * last[1]
        if (follows) paragraphs.at(-1).push(line)
        else paragraphs.push([line])
        last = [top, height]
    }
    return paragraphs
}

/** As wide and as high as the page has it. */
function show(run, aspect) {
    const span = document.createElement('span'), height = run.bottom - run.top
    span.textContent = `${run.text} ` // the spans are placed absolutely: a space between them would not be copied
    measure.font = `100px ${FONT}`
    const natural = ((measure.measureText(run.text).width / 100) * height) / aspect // percent of the page's width
    Object.assign(span.style, {
        left: `${run.left}%`, top: `${run.top}%`, fontSize: `${height.toFixed(4)}em`,
        transform: natural ? `scaleX(${((run.right - run.left) / natural).toFixed(4)})` : '',
    })
    return span
}

/** One em of the layer is a hundredth of the page's height. */
const scale = (element, layer) => (layer.style.fontSize = `${element.clientHeight / 100}px`)

async function fetchText(url) {
    const answer = await fetch(url)
    if (!answer.ok) throw new Error(String(answer.status))
    return answer.json()
}

function build(page, { width, height, lines }) {
    const layer = document.createElement('div'), words = lines.flat()
    const widen = ([from, to], [, left, , width]) => [Math.min(from, left), Math.max(to, left + width)]
    if (words.length) page.column = words.reduce(widen, [100, 0])
    layer.className = 'text'
    layer.dir = 'auto'
    layer.lang = '' // the document's language is not known: it is not the page's
    for (const paragraph of paragraphsOf(lines)) {
        const block = document.createElement('p')
        for (const line of paragraph)
            block.append(...runsOf(line, width / height).map(run => show(run, width / height)))
        layer.append(block)
    }
    if (lines.length) {
        page.img.alt = '' // the group around it has its name, and the words are there
    } else {
        layer.className = 'hidden'
        layer.textContent = text('page.picture')
    }
    page.img.after(layer)
    if (lines.length) new ResizeObserver(() => scale(page.element, layer)).observe(page.element)
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
