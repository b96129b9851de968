// SPDX-License-Identifier: Apache-2.0
// openapi-fetch.ts: types of openapi-typescript with the client openapi-fetch, which is told how to send forms and
// PDFs.
import createClient from 'openapi-fetch'
import type { paths } from '../generated/openapi-typescript/schema'
import { API, BASE_URL, authorization, given, run } from './flow'

const api = createClient<paths>({ baseUrl: API, headers: authorization })
run({
    create: async (file, name, signers) => given((await api.POST('/signatures', {
        body: { file: [], name, signers },
        bodySerializer() {
            const form = new FormData()
            form.set('file', file)
            form.set('name', name)
            form.set('signers', signers)
            return form
        },
    })).data),
    list: async () => given((await api.GET('/signatures')).data),
    get: async uuid => given((await api.GET('/signatures/{uuid}', { params: { path: { uuid } } })).data),
    sign: async (signer_uuid, text) => given((await api.POST('/sign/{signer_uuid}', {
        baseUrl: BASE_URL, params: { path: { signer_uuid } },
        body: { action: 'sign', consent: true, signature: { type: 'typed', text } },
    })).data),
    download: async (uuid, document_uuid) => given((await api.GET('/signatures/{uuid}/documents/{document_uuid}', {
        params: { path: { uuid, document_uuid } }, parseAs: 'arrayBuffer',
    })).data),
    verify: async pdf => given((await api.POST('/verify', {
        body: '', bodySerializer: () => pdf, headers: { 'Content-Type': 'application/pdf' },
    })).data),
})
