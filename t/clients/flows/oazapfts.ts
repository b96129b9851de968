// SPDX-License-Identifier: Apache-2.0
// oazapfts.ts: the functions that oazapfts generates. ok() gives the value of an answer, and throws an error.
// They read every answer that is not JSON as text, so a PDF cannot be downloaded by them.
import { ok } from '@oazapfts/runtime'
import * as api from '../generated/oazapfts/api'
import { API, BASE_URL, authorization, run } from './flow'

Object.assign(api.defaults, { baseUrl: API, headers: authorization })
run({
    create: (file, name, signers) => ok(api.createSignature({ file: [file], name, signers })),
    list: () => ok(api.listSignatures()),
    get: uuid => ok(api.getSignature(uuid)),
    sign: (signer, text) => ok(api.signOrRefuse(signer,
        { action: 'sign', consent: true, signature: { type: 'typed', text } }, {}, { baseUrl: BASE_URL })),
    verify: pdf => ok(api.verifyDocument(pdf)),
})
