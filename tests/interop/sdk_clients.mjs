/* The official SDK's client over its three transports: tools/list, a call, a page of the manual.
 *
 *   node sdk_clients.mjs HONE_BINARY WORKSPACE PORT     PORT: of a `hone serve --auth none`
 *
 * Prints TAP. */
import WebSocket from 'ws';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';

const [hone, workspace, port] = process.argv.slice(2);
globalThis.WebSocket ??= WebSocket;
const transports = {
    ws: () => new WebSocketClientTransport(new URL(`ws://127.0.0.1:${port}/mcp`)),
    http: () => new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)),
    stdio: () => new StdioClientTransport({ command: hone,
        args: ['mcp', '--workspace', workspace, '--executor', 'fake'], stderr: 'ignore' }),
    bridge: () => new StdioClientTransport({ command: hone,
        args: ['mcp', '--connect', `ws://127.0.0.1:${port}/mcp`], stderr: 'ignore' }),
};

let number = 0;
for (const [name, open] of Object.entries(transports)) {
    const client = new Client({ name: 'sdk', version: '1' });
    let said = '', ok = false;
    try {
        await client.connect(open());
        const { tools } = await client.listTools();
        const task = await client.callTool({ name: 'task_show', arguments: { task: 'sum' } });
        const page = await client.readResource({ uri: 'hone://docs/verdict?lines=1' });
        ok = tools.length > 10 && !task.isError && page.contents[0].text === '# Read a verdict\n';
        said = `${tools.length} tools, task_show, a page`;
        await client.close();
    } catch (error) {
        said = String(error).split('\n')[0];
    }
    console.log(`${ok ? 'ok' : 'not ok'} ${++number} - ${name} # ${said}`);
    process.exitCode ||= ok ? 0 : 1;
}
console.log(`1..${number}`);
process.exit();
