// SPDX-License-Identifier: Apache-2.0
// clients.test.mjs: `make test-clients`: linters find nothing in openapi.json, and clients that generators make of it
// compile with `tsc --strict` and go through flows/flow.ts, as they were generated.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const suite = JSON.parse(readFileSync(process.env.SIGREQ_SUITE))
const packages = join(suite.source, 'build/npm/clients/node_modules')
const folder = join(suite.dir, 'clients'), document = join(suite.source, 'src/api/openapi.json')
mkdirSync(folder)
cpSync(join(suite.source, 't/clients'), folder, { recursive: true })
symlinkSync(packages, join(folder, 'node_modules'))

const execute = promisify(execFile)
/** Runs a program of a package; what it says is in the error if it fails. */
async function program(path, ...words) {
    const environment = { ...process.env, NODE_NO_WARNINGS: '1', REDOCLY_TELEMETRY: 'off', CI: '1' }
    const options = { cwd: folder, env: environment, maxBuffer: 1 << 24 }
    try {
        const { stdout, stderr } = await execute(process.execPath, [join(packages, path), ...words], options)
        return stdout + stderr
    } catch (error) { throw new Error(`${path}: ${error.stdout}${error.stderr}`) }
}

test('spectral', async () => {
    writeFileSync(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n')
    await program('@stoplight/spectral-cli/dist/index.js',
        'lint', '--fail-severity=hint', '-r', 'spectral.yaml', document)
})

test('redocly', async () => {
    const said = await program('@redocly/cli/bin/cli.js', 'lint', document)
    assert.doesNotMatch(said, /warning/i)
})

// --- an organisation with a token

const ctl = (...words) => JSON.parse(execFileSync(join(suite.source, 'build/sigreqctl'),
    ['--driver', suite.db, '--params', suite.params, '--json', ...words]))
const { uuid } = ctl('org', 'create', '--name', 'Clients'), email = 'clients@example.org'
const of = ['--organization', uuid]
ctl('user', 'create', ...of, '--firstname', 'Kim', '--lastname', 'Roe', '--email', email)
const { token } = ctl('token', 'create', ...of, '--user', email, '--environment', 'test', '--name', 'a')

// The clients of swagger-typescript-api and openapi-zod-client send no body but JSON and forms, and an array in a form
// as one text. So their document has one file in a form, and the form of /verify, which is as good as the body.
function derived() {
    const spec = JSON.parse(readFileSync(document)), file = { type: 'string', format: 'binary' }
    const form = schema => ({ 'multipart/form-data': { schema } })
    spec.components.schemas.SubmissionInput.properties.file = file
    spec.paths['/verify'].post.requestBody.content =
        form({ type: 'object', required: ['file'], properties: { file } })
    const path = join(folder, 'derived.json')
    writeFileSync(path, JSON.stringify(spec))
    return path
}

// --- the generators: [program, its words for a folder]

const generators = {
    'openapi-fetch': ['openapi-typescript', 'openapi-typescript/bin/cli.js', at => [document, '-o', `${at}/schema.ts`]],
    'hey-api': ['hey-api', '@hey-api/openapi-ts/bin/index.cjs',
        at => ['-i', document, '-o', at, '-c', '@hey-api/client-fetch']],
    'swagger-typescript-api': ['swagger-typescript-api', 'swagger-typescript-api/dist/cli.js',
        at => ['generate', '-p', derived(), '-o', at, '-n', 'api.ts']],
    oazapfts: ['oazapfts', 'oazapfts/dist/cli.js', at => [document, `${at}/api.ts`]],
    orval: ['orval', 'orval/dist/bin/orval.js',
        at => ['--input', document, '--output', `${at}/api.ts`, '--client', 'axios-functions']],
    'openapi-typescript-codegen': ['openapi-typescript-codegen', 'openapi-typescript-codegen/bin/index.js',
        at => ['--input', document, '--output', at, '--client', 'fetch']],
    zodios: ['openapi-zod-client', 'openapi-zod-client/bin.js', at => [derived(), '-o', `${at}/client.ts`]],
}
for (const [name, [generator, path, words]] of Object.entries(generators)) {
    test(`${generator}, ${name}`, async () => {
        const at = join(folder, 'generated', generator)
        mkdirSync(at, { recursive: true })
        await program(path, ...words(at))
        const config = join(folder, `tsconfig.${name}.json`)
        writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', files: [`flows/${name}.ts`] }))
        await program('typescript/bin/tsc', '-p', config)
        const bundle = join(folder, `${name}.cjs`)
        const flow = join(folder, `flows/${name}.ts`)
        execFileSync('esbuild',
            [flow, '--bundle', '--platform=node', '--log-level=error', `--outfile=${bundle}`], { cwd: folder })
        const environment = {
            ...process.env, BASE_URL: `http://127.0.0.1:${suite.port}`, TOKEN: token,
            PDF: join(suite.source, 't/data/sample.pdf'),
        }
        const { stdout } = await execute(process.execPath,
            ['--import', `data:text/javascript,import{File}from'node:buffer';globalThis.File??=File`, bundle],
            { env: environment })
        assert.match(stdout, /^done$/m)
    })
}
