import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPython } from '@holdfast/loader-python';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runNode } from '../documents/documents.ts';

const server: Server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => response.end(request.method));
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-keep-alive-'));
  await mkdir(join(folder, 'plugins'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Language = 'js' | 'ts' | 'py';

/** A tool file that asks the server over a connection that it keeps open. */
function toFile(language: Language, name: string, effects: string): string {
  const method = effects === 'none' ? 'GET' : 'POST';
  const metadata = `"name": "${name}", "function": "ask", "description": "Asks.", "effects": "${effects}",
  "parameters": {"type": "object", "properties": {}}`;
  if (language === 'py') {
    return `import http.client
METADATA = {${metadata}, "dangerous": False}
connection = http.client.HTTPConnection("127.0.0.1", ${new URL(url).port})
def ask():
    connection.request("${method}", "/")
    return connection.getresponse().read().decode()
`;
  }
  const type = language === 'ts' ? ': Promise<string>' : '';
  return `export const METADATA = {${metadata}, "dangerous": false};
export async function ask()${type} {
  return await (await fetch('${url}', { method: '${method}' })).text();
}
`;
}

const call = (name: string) => ({ name, arguments: {} });
const turn = { calls: [call('look'), call('look'), call('pay'), call('pay')] };
const script = JSON.stringify({ turns: [turn, turn, { text: 'Done.' }] });
const python = await findPython();

const source = '--conditions=holdfast-source';
const ways = {
  program: async () => {
    await writeFile(join(folder, 'script.json'), script);
    const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
    return [source, program, 'run', 'Begin.', '--tools', 'plugins', '--model', 'script:script.json', '--json'];
  },
  loadTools: async () => {
    const program = fileURLToPath(new URL('./keep-alive-host.ts', import.meta.url));
    return [source, program, join(folder, 'plugins'), script];
  },
};

const rows = (['js', 'ts', 'py'] as const).flatMap((language) =>
  (['program', 'loadTools'] as const).map((way) => ({ language, way })),
);

test.for(rows)(
  'a .$language tool that keeps a connection open, twice in one message and in two turns, by way of $way',
  async ({ language, way }, { skip }) => {
    if (language === 'py' && !python.available) skip('There is no Python here.');
    for (const [name, effects] of [
      ['look', 'none'],
      ['pay', 'external'],
    ] as const)
      await writeFile(join(folder, 'plugins', `${name}.${language}`), toFile(language, name, effects));
    // Nothing but the run keeps this process alive: it has no terminal, and what it writes to is a pipe.
    const { status, output } = await runNode(await ways[way](), { cwd: folder });
    const lines = output
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const events = lines.map((line) => JSON.parse(line));
    const values = events.flatMap(({ type, outcome }) => (type === 'tool-call-end' ? [outcome.value] : []));
    expect({ status, values }, output).toEqual({
      status: 0,
      values: ['GET', 'GET', 'POST', 'POST', 'GET', 'GET', 'POST', 'POST'],
    });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
  },
);
