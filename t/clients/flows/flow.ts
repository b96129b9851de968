// SPDX-License-Identifier: Apache-2.0
// flow.ts: what each client does: it creates a submission from a PDF, lists and reads it, signs through the link,
// downloads the document and has it verified. The program of a client says how it calls the operations.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

export const { BASE_URL, TOKEN, PDF } = process.env as { BASE_URL: string, TOKEN: string, PDF: string }
export const API = `${BASE_URL}/api/v3`, authorization = { Authorization: `Bearer ${TOKEN}` }

interface Submission {
    uuid: string
    submitters: { uuid: string, status: string }[]
    documents: { uuid: string, name: string, sha256: string }[]
}
export interface Client {
    create(file: File, name: string, signers: string): Promise<Submission>
    list(): Promise<{ data: Submission[] }>
    get(uuid: string): Promise<Submission>
    sign(signer: string, text: string): Promise<{ state: string }>
    /** Left out by a generator that reads every answer as text */
    download?(uuid: string, document: string): Promise<Blob | ArrayBuffer>
    verify(pdf: File): Promise<{ conclusion: string, signatures: { ours: boolean }[] }>
}

/** The value of an answer, which must be there. */
export function given<T>(value: T | undefined | null): T {
    if (value === undefined || value === null) throw new Error('the answer has no value')
    return value
}

export async function run(client: Client) {
    const signers = JSON.stringify([{
        firstname: 'Ann', lastname: 'Lee', email: 'ann@example.org',
        fields: [{
            type: 'signature', name: 'Tenant', document: 'lease.pdf', area: { x: 72, y: 72, w: 180, h: 50, page: 0 },
        }],
    }])
    const pdf = readFileSync(PDF)
    const made = await client.create(new File([pdf], 'lease.pdf', { type: 'application/pdf' }), 'Lease', signers)
    const { uuid } = made, signer = given(made.submitters[0]).uuid, document = given(made.documents[0])
    assert.equal(document.name, 'lease.pdf')
    assert.ok((await client.list()).data.some(one => one.uuid === uuid), 'the list has it')
    assert.equal(given((await client.get(uuid)).submitters[0]).status, 'sent')
    assert.equal((await client.sign(signer, 'Ann Lee')).state, 'completed')
    assert.equal(given((await client.get(uuid)).submitters[0]).status, 'completed')
    const path = `${API}/signatures/${uuid}/documents/${document.uuid}`
    const signed = client.download ? await client.download(uuid, document.uuid)
        : await (await fetch(path, { headers: authorization })).arrayBuffer()
    const bytes = Buffer.from(signed instanceof Blob ? await signed.arrayBuffer() : signed)
    assert.ok(bytes.subarray(0, pdf.length).equals(pdf), 'the download begins with the upload')
    const verdict = await client.verify(new File([bytes], 'lease.pdf', { type: 'application/pdf' }))
    assert.equal(verdict.conclusion, 'signed')
    assert.ok(given(verdict.signatures[0]).ours)
    console.log('done')
}
