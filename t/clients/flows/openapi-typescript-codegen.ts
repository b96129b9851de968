// SPDX-License-Identifier: Apache-2.0
// openapi-typescript-codegen.ts: the services that openapi-typescript-codegen generates, with fetch. They read every
// answer that is not JSON as text, so a PDF cannot be downloaded by them.
import {
    OpenAPI, SignaturesService, SigningService, VerificationService,
} from '../generated/openapi-typescript-codegen'
import { API, BASE_URL, TOKEN, run } from './flow'

Object.assign(OpenAPI, { BASE: API, TOKEN })
run({
    create: (file, name, signers) => SignaturesService.createSignature({ file: [file], name, signers }),
    list: () => SignaturesService.listSignatures(),
    get: uuid => SignaturesService.getSignature(uuid),
    async sign(signer, text) {
        OpenAPI.BASE = BASE_URL // the services of signing links are there
        try {
            return await SigningService.signOrRefuse(signer,
                { action: 'sign', consent: true, signature: { type: 'typed', text } } as never)
        } finally { OpenAPI.BASE = API }
    },
    verify: pdf => VerificationService.verifyDocument(pdf),
})
