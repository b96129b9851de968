// SPDX-License-Identifier: Apache-2.0
// ink.mjs: where something is drawn in an image.
/** Where the ink, or the gray text of a caption is, from the left, top, right and bottom, in parts of an image or of a
 * `part` of it. */
export const inkOf = (page, bytes, gray = false, part = []) => page.evaluate(async ([url, wanted, cut]) => {
    const bitmap = await createImageBitmap(await (await fetch(url)).blob(), ...cut)
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    context.drawImage(bitmap, 0, 0)
    const { data, width, height } = context.getImageData(0, 0, bitmap.width, bitmap.height)
    const box = [width, height, 0, 0]
    for (let y = 0, at = 0; y < height; y++)
        for (let x = 0; x < width; x++, at += 4) {
            const red = data[at], green = data[at + 1], blue = data[at + 2]
            if (red > 140) continue
            const isGray = Math.abs(red - green) < 12 && Math.abs(green - blue) < 12
            if (!(wanted ? isGray : blue >= green + 20)) continue
            box[0] = Math.min(box[0], x)
            box[1] = Math.min(box[1], y)
            box[2] = Math.max(box[2], x + 1)
            box[3] = Math.max(box[3], y + 1)
        }
    return [box[0] / width, box[1] / height, box[2] / width, box[3] / height]
}, [`data:image/png;base64,${bytes.toString('base64')}`, gray, part])
