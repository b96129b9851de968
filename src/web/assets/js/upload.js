// SPDX-License-Identifier: Apache-2.0
// upload.js: an image of a signature, made as small as it may be: photographs of today's phones are too large to send.
// The service takes the paper away, and shows what is left.
import { paint } from './mark.js'
import { preview } from './preview.js'
import { text } from './texts.js'

const SIDE_MAX = 1200
const BYTES_MAX = 900_000

const asUrl = blob => new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
})

/** The image, turned, as a PNG, which keeps what is transparent; where that is too large, as a JPEG on white. */
async function shrink(image, turns) {
    const scale = Math.min(1, SIDE_MAX / Math.max(image.width, image.height))
    const size = [image.width, image.height].map(side => Math.max(1, Math.round(side * scale)))
    const canvas = document.createElement('canvas'), context = canvas.getContext('2d')
    ;[canvas.width, canvas.height] = turns % 2 ? [size[1], size[0]] : size
    context.translate(canvas.width / 2, canvas.height / 2)
    context.rotate(turns * Math.PI / 2)
    context.drawImage(image, -size[0] / 2, -size[1] / 2, size[0], size[1])
    const blobOf = (type, quality) => new Promise(resolve => canvas.toBlob(resolve, type, quality))
    let blob = await blobOf('image/png')
    if (blob && blob.size > BYTES_MAX) {
        context.resetTransform()
        context.globalCompositeOperation = 'destination-over'
        context.fillStyle = '#fff'
        context.fillRect(0, 0, canvas.width, canvas.height)
        blob = await blobOf('image/jpeg', 0.85)
    }
    if (!blob || blob.size > BYTES_MAX) throw new Error('too large')
    return asUrl(blob)
}

export function prepareUpload(panel, { say, announce }) {
    const drop = panel.querySelector('[data-drop]'), canvas = panel.querySelector('[data-uploaded]')
    const input = panel.querySelector('#upload'), camera = panel.querySelector('#camera')
    const turn = panel.querySelector('[data-turn]')
    let image = null, turns = 0 // as it was chosen
    let made = null // what the service has said of it, or is about to say
    let shown = null
    const show = () => paint(canvas, shown)

    async function make() {
        const url = await shrink(image, turns).catch(() => null)
        return url ? preview({ type: 'uploaded', image: url }) : { fault: text('upload.bad') }
    }

    async function update() {
        const own = made = make()
        drop.ariaBusy = 'true'
        const { mark, fault } = await own
        if (own !== made) return
        drop.ariaBusy = 'false'
        if (fault) made = null
        shown = mark ?? null
        say(fault ?? '')
        if (mark) announce(text('upload.ready'))
        drop.classList.toggle('empty', !mark)
        turn.hidden = !mark
        show()
    }

    async function read(file) {
        if (!file) return
        image = await createImageBitmap(file).catch(() => null)
        turns = 0
        return update()
    }

    for (const each of [input, camera]) each.addEventListener('change', () => read(each.files[0]))
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
        take: () => made ?? { fault: text('upload.empty') },
    }
}
