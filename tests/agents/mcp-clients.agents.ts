import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectAgents, inspect, inspectorVersion, installClients, openaiVersion } from './mcp-clients.ts';
import { installServers, type ServerName, toCommand } from './mcp-servers.ts';

beforeAll(() => {
  installServers();
  installClients();
});

async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-mcp-clients-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'a.txt'), 'hi\n');
  await writeFile(join(folder, '.env'), 'KEY=CANARY-7431\n');
  return folder;
}

interface Inspected {
  readonly tools?: readonly { readonly name: string }[];
}

/** The inspector offers roots, which are deprecated; the proxy does not. */
const withoutRoots = ({ tools, ...rest }: Inspected): Inspected =>
  tools === undefined ? rest : { ...rest, tools: tools.filter(({ name }) => name !== 'get-roots-list') };

const readCall = (path: string): readonly string[] => [
  ...['--method', 'tools/call', '--tool-name', 'read_text_file'],
  ...['--tool-arg', `path=${path}`],
];

describe(`the inspector's command line ${inspectorVersion}, directly and through the proxy`, () => {
  test.each<{ name: ServerName; calls: (folder: string) => readonly (readonly string[])[] }>([
    { name: 'filesystem', calls: (folder) => [readCall(join(folder, 'a.txt'))] },
    {
      name: 'everything',
      calls: () => [
        ['--method', 'resources/list'],
        ['--method', 'prompts/list'],
      ],
    },
    { name: 'memory', calls: () => [] },
    { name: 'sequential-thinking', calls: () => [] },
  ])('$name answers the same', async ({ name, calls }) => {
    const folder = await createFolder();
    for (const words of [['--method', 'tools/list'], ...calls(folder)])
      expect(await inspect(name, folder, true, words), words.join(' ')).toEqual(
        withoutRoots(await inspect(name, folder, false, words)),
      );
  });

  test('does not see a secret through the proxy', async () => {
    const folder = await createFolder();
    const words = readCall(join(folder, '.env'));
    expect(JSON.stringify(await inspect('filesystem', folder, false, words))).toContain('CANARY-7431');
    expect(JSON.stringify(await inspect('filesystem', folder, true, words).catch(String))).not.toContain('CANARY-7431');
  });
});

describe(`OpenAI Agents ${openaiVersion}`, () => {
  test('uses what `serve --mcp` offers, and policies hold', async () => {
    const folder = await createFolder();
    const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
    const home = join(folder, 'home');
    await using server = await connectAgents({
      command: process.execPath,
      args: ['--conditions=holdfast-source', program, 'serve', '--mcp', '--session', 'work'],
      env: { PATH: process.env['PATH'] ?? '', HOME: home, HOLDFAST_HOME: home },
      cwd: folder,
    });
    expect((await server.listTools()).map(({ name }) => name)).toContain('write_file');
    const write = { path: 'a.txt', content: 'new\n' };
    expect(await server.callToolResult('write_file', write)).toMatchObject({ isError: true });
    expect(JSON.stringify(await server.callToolResult('read_file', { path: 'a.txt' }))).toContain('hi');
    expect(await server.callToolResult('write_file', write)).not.toMatchObject({ isError: true });
  });

  test('uses a server through the proxy', async () => {
    const folder = await createFolder();
    await using server = await connectAgents({ ...(await toCommand('filesystem', folder, true)), cwd: folder });
    const read = (path: string) => server.callToolResult('read_text_file', { path: join(folder, path) });
    expect(JSON.stringify(await read('a.txt'))).toContain('hi');
    expect(JSON.stringify(await read('.env'))).toContain('holds secrets');
  });
});
