// SPDX-License-Identifier: Apache-2.0
// tap.mjs: a reporter for node's test runner: TAP that t/run reads, in the form of Test::More. Failures are described
// in comments, because TAP::Parser cannot read the YAML of node's own reporter.
const told = error => {
    const cause = error.cause ?? error
    // eslint-disable-next-line no-control-regex -- node writes colours
    return String(cause.stack ?? cause.message ?? cause).replace(/\x1b\[\d+m/g, '').split('\n')
}

export default async function* tap(source) {
    let count = 0
    for await (const { type, data } of source) {
        if (type === 'test:diagnostic' || data.nesting || !['test:pass', 'test:fail'].includes(type)) continue
        const skipped = data.skip === undefined ? '' : ` # SKIP ${data.skip}`
        yield `${type === 'test:pass' ? 'ok' : 'not ok'} ${++count} - ${data.name.replaceAll('#', '\\#')}${skipped}\n`
        if (process.env.SIGREQ_TIMES) console.error(Math.round(data.details.duration_ms), data.name)
        if (type === 'test:fail') for (const line of told(data.details.error)) yield `# ${line}\n`
    }
    yield `1..${count}\n`
}
