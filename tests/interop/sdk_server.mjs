// SPDX-License-Identifier: Apache-2.0
// The other end of ws_bench's row "sdk": a server of the official TypeScript SDK with one trivial
// tool, its sessions kept, JSON answers, no framework around it. Prints its port.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const sessions = new Map();

async function open() {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (id) => sessions.set(id, transport),
    });
    const server = new Server({ name: "sdk", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: [{ name: "job_wait", inputSchema: { type: "object" } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, () => ({
        content: [{ type: "text", text: '{"status":"ok","summary":"no jobs"}' }],
    }));
    await server.connect(transport);
    return transport;
}

const http = createServer(async (request, response) => {
    const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await open());
    await transport.handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
