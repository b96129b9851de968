// SPDX-License-Identifier: Apache-2.0
// hey-api.ts: the client that @hey-api/openapi-ts generates.
import { client } from '../generated/hey-api/client.gen'
import {
    createSignature, getDocument, getSignature, listSignatures, signOrRefuse, verifyDocument,
} from '../generated/hey-api/sdk.gen'
import { API, BASE_URL, TOKEN, given, run } from './flow'

client.setConfig({ baseUrl: API, auth: () => TOKEN })
run({
    create: async (file, name, signers) =>
        given((await createSignature({ body: { file: [file], name, signers } })).data),
    list: async () => given((await listSignatures()).data),
    get: async uuid => given((await getSignature({ path: { uuid } })).data),
    sign: async (signer_uuid, text) => given((await signOrRefuse({
        baseUrl: BASE_URL, path: { signer_uuid },
        body: { action: 'sign', consent: true, signature: { type: 'typed', text } },
    })).data),
    download: async (uuid, document_uuid) =>
        given((await getDocument({ path: { uuid, document_uuid }, parseAs: 'blob' })).data) as Blob,
    verify: async pdf => given((await verifyDocument({ body: pdf, bodySerializer: body => body })).data),
})
