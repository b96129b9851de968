// SPDX-License-Identifier: Apache-2.0
// orval.ts: the functions that orval generates, with axios. (Those with fetch read every answer as JSON.)
import axios from 'axios'
import * as api from '../generated/orval/api'
import { API, BASE_URL, authorization, run } from './flow'

Object.assign(axios.defaults, { baseURL: API })
Object.assign(axios.defaults.headers.common, authorization)
run({
    create: async (file, name, signers) => (await api.createSignature({ file: [file], name, signers })).data,
    list: async () => (await api.listSignatures()).data,
    get: async uuid => (await api.getSignature(uuid)).data,
    sign: async (signer, text) => (await api.signOrRefuse(signer,
        { action: 'sign', consent: true, signature: { type: 'typed', text } }, {}, { baseURL: BASE_URL })).data,
    download: async (uuid, document) =>
        (await api.getDocument(uuid, document, {}, { responseType: 'arraybuffer' })).data,
    verify: async pdf => (await api.verifyDocument(pdf, { headers: { 'Content-Type': 'application/pdf' } })).data,
})
