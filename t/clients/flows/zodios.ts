// SPDX-License-Identifier: Apache-2.0
// zodios.ts: the client that openapi-zod-client generates, for zodios. It checks all answers by schemas of zod.
// It is generated from a derived document, in which forms have one file: see clients.test.mjs.
import { createApiClient } from '../generated/openapi-zod-client/client'
import { API, BASE_URL, authorization, run } from './flow'

const axiosConfig = { headers: authorization }
const api = createApiClient(API, { axiosConfig }), signing = createApiClient(BASE_URL)
const unread = createApiClient(API, { axiosConfig, validate: 'request' }) // for PDFs, which zod does not know
run({
    create: (file, name, signers) => api.createSignature({ file, name, signers }),
    list: () => api.listSignatures(),
    get: uuid => api.getSignature({ params: { uuid } }),
    sign: (signer_uuid, text) => signing.signOrRefuse(
        { action: 'sign', consent: true, signature: { type: 'typed', text } }, { params: { signer_uuid } }),
    download: async (uuid, document_uuid) => (await unread.getDocument(
        { params: { uuid, document_uuid }, responseType: 'arraybuffer' })) as unknown as ArrayBuffer,
    verify: pdf => api.verifyDocument({ file: pdf }),
})
