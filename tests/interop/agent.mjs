/* An outside agent, from start to end: official MCP SDK, WebSocket, nothing of hone's own code.
 *
 *   npm ci && node agent.mjs HONE_BINARY WORKSPACE
 *
 * Starts `hone serve`, is refused without the token and with a foreign Origin, connects, lists the tools, reads a task, edits the
 * naive kernel, evaluates it with progress, cancels another evaluation, reads the history and the difference. Prints TAP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import WebSocket from 'ws';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';

const [hone, workspace] = process.argv.slice(2);
if (!workspace) {
    console.error('usage: node agent.mjs HONE_BINARY WORKSPACE');
    process.exit(2);
}

let number = 0;
let failed = 0;
function check(ok, name, detail = '') {
    number++;
    failed += ok ? 0 : 1;
    console.log(`${ok ? 'ok' : 'not ok'} ${number} - ${name}${detail ? ' # ' + detail : ''}`);
}

/* An answer is one text block of JSON. */
function said(result) {
    return JSON.parse(result.content[0].text);
}

async function startServer() {
    const child = spawn(hone, ['serve', '--workspace', workspace, '--listen', '127.0.0.1:0'],
        { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    for await (const chunk of child.stderr) {
        text += chunk;
        const url = text.match(/ws:\/\/\S+/);
        if (url) {
            child.stderr.resume();
            return { child, url: new URL(url[0]) };
        }
    }
    throw new Error('server did not start: ' + text);
}

/* What a refused handshake answers: the HTTP status, or "closed". */
function refusal(url, options) {
    return new Promise((resolve) => {
        const ws = new WebSocket(url, 'mcp', options);
        ws.on('unexpected-response', (_, response) => resolve(response.statusCode));
        ws.on('open', () => resolve('open'));
        ws.on('error', () => resolve('closed'));
    });
}

const { child, url } = await startServer();
try {
    const bare = new URL(url);
    bare.search = '';
    check([401, 403].includes(await refusal(bare, {})), 'refused without the token');
    check([401, 403].includes(await refusal(url, { origin: 'http://evil.example.com' })),
        'refused with a foreign Origin');

    globalThis.WebSocket = WebSocket;
    const client = new Client({ name: 'interop-agent', version: '1.0.0' });
    await client.connect(new WebSocketClientTransport(url));
    check(client.getServerVersion()?.name === 'hone', 'connected', client.getServerVersion()?.version);

    const { tools } = await client.listTools();
    check(tools.length === 15, 'fifteen tools', tools.map((t) => t.name).join(' '));
    check(tools.every((t) => t.inputSchema && t.description), 'each with a schema');

    const call = (name, args, options) =>
        client.callTool({ name, arguments: args }, undefined, { timeout: 300000, ...options });

    const shown = await call('task_show', { name: 'softmax' });
    check(!shown.isError, 'task_show', said(shown).summary);

    /* Its own edit: one thread per block of rows, a vector loop inside. */
    const naive = await readFile(`${workspace}/tasks/softmax/kernels/naive.c`, 'utf8');
    const edited = naive.replace(/(\n\s*)(for \(int64_t \w+ = 0; \w+ < \w+; \w+\+\+\))/,
        '$1#pragma omp parallel for$1$2');
    check(edited !== naive, 'edited the kernel');

    let steps = 0;
    const first = await call('kernel_evaluate', { task: 'softmax', source: edited, tier: 'decide' },
        { onprogress: () => steps++ });
    const answer = said(first);
    check(!first.isError && ['faster', 'same', 'slower', 'inconclusive'].includes(answer?.verdict),
        'evaluated', answer?.summary);
    check(steps > 0, 'saw progress', `${steps} notifications`);
    check(/^[0-9a-f]{40}$/.test(answer?.commit ?? ''), 'became a commit', answer?.commit);

    const abort = new AbortController();
    let sent = 0;
    const slow = call('kernel_evaluate',
        { task: 'matmul', source: (await readFile(`${workspace}/tasks/matmul/kernels/naive.c`, 'utf8')) + '\n/* again */\n', tier: 'decide' },
        { signal: abort.signal, onprogress: () => { sent = sent || performance.now(); } }).catch((e) => e);
    for (let i = 0; i < 200 && !sent; i++)
        await new Promise((r) => setTimeout(r, 50));
    const before = performance.now();
    abort.abort('changed my mind');
    await slow;
    /* The server has let go of the work when the device answers again. */
    const again = await call('device_info', {});
    check(!again.isError && performance.now() - before < 1000, 'cancelled a running evaluation',
        `${(performance.now() - before).toFixed(0)} ms until the next answer`);

    const bad = await call('kernel_evaluate', { task: 'softmax', source: 'int x' });
    check(said(bad).verdict === 'failed', 'a broken kernel is a result', said(bad).summary);
    const wrong = await call('kernel_evaluate', { task: 'softmax', sauce: '' });
    check(wrong.isError === true, 'a wrong argument is a tool error', wrong.content?.[0]?.text?.slice(0, 100));

    const history = await call('history_show', {});
    check(history.content[0].text.includes(answer.commit), 'history has the version');

    await client.close();
} finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
}
console.log(`1..${number}`);
process.exit(failed ? 1 : 0);
