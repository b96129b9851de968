// SPDX-License-Identifier: Apache-2.0
// pdf.mjs: PDFs for the tests of the signing page: pages of any size with lines of text.
const escaped = text => text.replace(/[\\()]/g, '\\$&')

function contentOf({ height, lines = [] }) {
    const shown = lines.map((line, at) => `BT /F1 14 Tf 72 ${height - 90 - 22 * at} Td (${escaped(line)}) Tj ET`)
    return shown.join('\n')
}

/**
 * [{width, height, lines, more}, …] as the bytes of a PDF; `catalog` is added to its catalog, and `more` to the page.
 * The number of the first of the `objects` is four and two for each page.
 */
export function makePdf(pages, catalog = '', objects = []) {
    const parts = ['', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>']
    const kids = pages.map(page => {
        const content = contentOf(page)
        parts.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
        parts.push(`<< /Type /Page /Parent 3 0 R /MediaBox [0 0 ${page.width} ${page.height}] `
            + `/Contents ${parts.length} 0 R /Resources << /Font << /F1 2 0 R >> >> ${page.more ?? ''} >>`)
        return parts.length
    })
    const numbers = kids.map(kid => kid + 1) // the tree of pages comes in between
    parts[0] = `<< /Type /Catalog /Pages 3 0 R ${catalog} >>`
    const moved = parts.slice(2).map(text => text.replace(/Contents (\d+)/, (all, n) => `Contents ${Number(n) + 1}`))
    const tree = `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map(n => `${n} 0 R`).join(' ')}] >>`
    const all = [...parts.slice(0, 2), tree, ...moved, ...objects]
    let text = '%PDF-1.7\n'
    const offsets = all.map((object, at) => {
        const offset = text.length
        text += `${at + 1} 0 obj\n${object}\nendobj\n`
        return offset
    })
    const table = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
    text += `xref\n0 ${all.length + 1}\n0000000000 65535 f \n${table}`
        + `trailer << /Size ${all.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
    return Buffer.from(text, 'latin1')
}

/** A contract of so many pages, US Letter. */
export const contract = (pages, title = 'Lease', catalog = '') => makePdf(Array.from({ length: pages }, (_, at) => ({
    width: 612, height: 792,
    lines: [`${title}, page ${at + 1}`, ...Array.from({ length: 24 }, (__, n) =>
        `Section ${n + 1}: the tenant has inspected the flat and takes it as it is.`)],
})), catalog)
