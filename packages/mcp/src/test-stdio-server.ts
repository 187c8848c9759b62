// A server in a process of its own: `node test-stdio-server.ts [FILE]`; appends what happens to FILE.
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , file = '/dev/null'] = process.argv;
const note = (what: string): void => appendFileSync(file, `${what} ${process.pid}\n`);
note('started');
process.on('exit', () => note('ended'));

serveStdio(() => {
  const server = new Server({ name: 'test-stdio-server', version: '1.0.0' }, { capabilities: { tools: {} } });
  const text = { type: 'string' as const };
  const inputSchema = { type: 'object' as const, properties: { text, path: text } };
  const names = ['echo', 'environment', 'die', 'read_file'];
  server.setRequestHandler('tools/list', () => ({ tools: names.map((name) => ({ name, inputSchema })) }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: input } }) => {
    note(`call ${name}`);
    if (name === 'die') process.exit(3);
    const said = name === 'environment' ? process.env['HOLDFAST_TEST'] : JSON.stringify(input);
    return { content: [{ type: 'text', text: said ?? 'nothing' }] };
  });
  return server;
});
