import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// An MCP server with one tool, as far as an agent needs it: `read_file` returns a file of the current folder.
const tool = {
  name: 'read_file',
  description: 'Read a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { readOnlyHint: true },
};

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly path?: string } };
}

function answer({ method, params }: Request): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'files', version: '1.0.0' };
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') return { tools: [tool] };
  if (method !== 'tools/call') return {};
  return { content: [{ type: 'text', text: readFileSync(params?.arguments?.path ?? '', 'utf8') }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, result: answer(request) })}\n`);
});
