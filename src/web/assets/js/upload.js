// SPDX-License-Identifier: Apache-2.0
// upload.js: an image of a signature. A canvas turns it upright, removes the paper (paper.js) and limits its size. If
// the browser hides what a canvas contains, the file is sent as it is. The service shows what it makes of the image.
import { paint } from './mark.js'
import { removePaper } from './paper.js'
import { preview } from './preview.js'
import { text } from './texts.js'

const SIDES_MAX = [2000, 1200] // the smaller one if a PNG of the larger one is too large
const BYTES_MAX = 900_000
const PIXELS_MAX = 4_000_000
const TYPES = ['image/png', 'image/jpeg', 'image/webp']
const NOISE_MAX = 16 // of 255: what nobody sees in a signature

const asUrl = blob => new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
})

/** Whether a canvas gives what was painted: to hide who they are, some browsers give noise or white instead. */
function isCanvasTrue() {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    const valueAt = (at, channel) => (at * (53 + 34 * channel)) % 256
    const each = work => Array.from({ length: 16 }, (_, at) => work(at))
    each(at => {
        context.fillStyle = `rgb(${[0, 1, 2].map(channel => valueAt(at, channel))})`
        context.fillRect(at % 4, at >> 2, 1, 1)
    })
    const { data } = context.getImageData(0, 0, 4, 4)
    return each(at => [0, 1, 2].every(channel => Math.abs(data[4 * at + channel] - valueAt(at, channel)) <= NOISE_MAX))
        .every(Boolean)
}

function draw(image, turns, most) {
    const scale = Math.min(1, most / Math.max(image.width, image.height))
    const size = [image.width, image.height].map(side => Math.max(1, Math.round(side * scale)))
    const canvas = document.createElement('canvas'), context = canvas.getContext('2d', { willReadFrequently: true })
    ;[canvas.width, canvas.height] = turns % 2 ? [size[1], size[0]] : size
    context.translate(canvas.width / 2, canvas.height / 2)
    context.rotate(turns * Math.PI / 2)
    context.drawImage(image, -size[0] / 2, -size[1] / 2, size[0], size[1])
    return canvas
}

const blobOf = (canvas, ...kind) => new Promise(resolve => canvas.toBlob(resolve, ...kind))

/** The image, turned and without paper, as a PNG, which keeps what is transparent; or as a JPEG on white. */
async function convert(image, turns) {
    let canvas, blob
    for (const most of SIDES_MAX) {
        canvas = draw(image, turns, most)
        removePaper(canvas)
        blob = await blobOf(canvas, 'image/png')
        if (blob?.size <= BYTES_MAX) return asUrl(blob)
    }
    const context = canvas.getContext('2d')
    context.globalCompositeOperation = 'destination-over'
    context.fillStyle = '#fff'
    context.fillRect(0, 0, canvas.width, canvas.height)
    blob = await blobOf(canvas, 'image/jpeg', 0.85)
    if (!blob || blob.size > BYTES_MAX) throw new Error('too large')
    return asUrl(blob)
}

export function prepareUpload(panel, { say, announce }) {
    const drop = panel.querySelector('[data-drop]'), canvas = panel.querySelector('[data-uploaded]')
    const input = panel.querySelector('[type=file]'), camera = panel.querySelector('[capture]')
    const turn = panel.querySelector('[data-turn]')
    const blocked = panel.matches('[data-limited]') ? 'upload.blocked.only' : 'upload.blocked'
    let file = null, image = null, turns = 0 // as it was chosen
    let made = null // what the service has said of it, or is about to say
    let shown = null
    const show = () => paint(canvas, shown)

    const isSmall = () => TYPES.includes(file.type) && file.size <= BYTES_MAX
        && image.width * image.height <= PIXELS_MAX

    const send = url => (url ? preview({ type: 'uploaded', image: url }) : { fault: text('upload.bad') })

    async function make() {
        if (image && !isCanvasTrue()) {
            panel.querySelector('.hint')?.remove() // it says that the paper is removed
            if (turns || !isSmall()) return { fault: text(blocked) }
            return send(await asUrl(file).catch(() => null))
        }
        return send(image && await convert(image, turns).catch(() => null))
    }

    async function update() {
        const own = made = make()
        drop.ariaBusy = 'true'
        const answer = await own, { mark, fault } = answer
        if (own !== made) return answer
        drop.ariaBusy = 'false'
        if (fault) made = null
        shown = mark ?? null
        say(fault ?? '')
        if (mark) announce(text('upload.ready'))
        drop.classList.toggle('empty', !mark)
        turn.hidden = !mark
        show()
        return answer
    }

    async function read(chosen) {
        if (!chosen) return
        file = chosen
        image = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => null)
        turns = 0
        await update()
    }

    for (const each of [input, camera]) {
        each.addEventListener('change', () => read(each.files[0]))
        each.addEventListener('click', () => { each.value = '' }) // the same file may be chosen again
    }
    panel.querySelector('[data-camera]').addEventListener('click', () => camera.click())
    turn.addEventListener('click', () => { turns = (turns + 1) % 4; update() })
    drop.addEventListener('dragover', event => event.preventDefault())
    drop.addEventListener('drop', event => { event.preventDefault(); read(event.dataTransfer.files[0]) })
    drop.addEventListener('click', () => input.click())
    drop.classList.add('empty')
    new ResizeObserver(show).observe(canvas)
    return {
        show,
        restore: mark => {
            made = Promise.resolve({ mark })
            shown = mark
            drop.classList.remove('empty')
        },
        take: () => made ?? (image ? update() : { fault: text('upload.empty') }),
    }
}
