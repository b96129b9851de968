// upload.js: an image of a signature, made as small as it may be: photographs of today's phones are too large to send.
import { text } from './texts.js'
import { paint } from './mark.js'

const SIDE_MAX = 1200
const BYTES_MAX = 900_000

const asUrl = blob => new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
})

/** The image as a PNG, which keeps what is transparent; where that is too large, as a JPEG on white. */
async function shrink(file) {
    const image = await createImageBitmap(file)
    const scale = Math.min(1, SIDE_MAX / Math.max(image.width, image.height))
    const canvas = document.createElement('canvas'), context = canvas.getContext('2d')
    canvas.width = Math.max(1, Math.round(image.width * scale))
    canvas.height = Math.max(1, Math.round(image.height * scale))
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    const blobOf = (type, quality) => new Promise(resolve => canvas.toBlob(resolve, type, quality))
    let blob = await blobOf('image/png')
    if (blob && blob.size > BYTES_MAX) {
        context.globalCompositeOperation = 'destination-over'
        context.fillStyle = '#fff'
        context.fillRect(0, 0, canvas.width, canvas.height)
        blob = await blobOf('image/jpeg', 0.85)
    }
    if (!blob || blob.size > BYTES_MAX) throw new Error('too large')
    return asUrl(blob)
}

export function prepareUpload(panel, { say, announce }) {
    const input = panel.querySelector('input'), drop = panel.querySelector('[data-drop]')
    const canvas = panel.querySelector('[data-uploaded]')
    let image = null
    const show = () => paint(canvas, image && { type: 'uploaded', image })

    async function read(file) {
        if (!file) return
        image = await shrink(file).catch(() => null)
        say(image ? '' : text('upload.bad'))
        if (image) announce(text('upload.ready'))
        drop.classList.toggle('empty', !image)
        show()
    }

    input.addEventListener('change', () => read(input.files[0]))
    drop.addEventListener('dragover', event => event.preventDefault())
    drop.addEventListener('drop', event => { event.preventDefault(); read(event.dataTransfer.files[0]) })
    drop.addEventListener('click', () => input.click())
    drop.classList.add('empty')
    new ResizeObserver(show).observe(canvas)
    return {
        show,
        restore: mark => { image = mark.image; drop.classList.remove('empty') },
        take: () => (image ? { mark: { type: 'uploaded', image } } : { fault: text('upload.empty') }),
    }
}
