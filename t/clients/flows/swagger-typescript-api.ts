// SPDX-License-Identifier: Apache-2.0
// swagger-typescript-api.ts: the client that swagger-typescript-api generates, with fetch, of a
// derived document, in which forms have one file: see clients.test.mjs.
import { Api } from '../generated/swagger-typescript-api/api'
import { API, BASE_URL, authorization, run } from './flow'

const api = new Api({ baseUrl: API, baseApiParams: { headers: authorization } })
run({
    create: async (file, name, signers) => (await api.signatures.createSignature({ file, name, signers })).data,
    list: async () => (await api.signatures.listSignatures()).data,
    get: async uuid => (await api.signatures.getSignature(uuid)).data,
    sign: async (signer, text) => (await api.sign.signOrRefuse(signer,
        { action: 'sign', consent: true, signature: { type: 'typed', text } }, {}, { baseUrl: BASE_URL })).data,
    download: async (uuid, document) =>
        (await api.signatures.getDocument(uuid, document, {}, { format: 'blob' })).data,
    verify: async pdf => (await api.verify.verifyDocument({ file: pdf })).data,
})
