import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Connected, connect, installServers, request, type ServerName, version } from './mcp-servers.ts';

beforeAll(installServers);

async function connectBoth(name: ServerName): Promise<{ direct: Connected; proxied: Connected; folder: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-mcp-servers-')));
  await writeFile(join(folder, 'a.txt'), 'hi\n');
  await writeFile(join(folder, '.env'), 'KEY=CANARY-7431\n');
  const direct = await connect(name, folder, false);
  const proxied = await connect(name, folder, true);
  onTestFinished(async () => {
    await Promise.all([direct.client.close(), proxied.client.close()]);
    await rm(folder, { recursive: true, force: true });
  });
  return { direct, proxied, folder };
}

type Call = readonly [tool: string, input: Record<string, unknown>];

const calls: Readonly<Record<ServerName, (folder: string) => readonly Call[]>> = {
  filesystem: (folder) => [
    ['list_allowed_directories', {}],
    ['list_directory', { path: folder }],
    ['read_text_file', { path: join(folder, 'a.txt') }],
    ['get_file_info', { path: join(folder, 'a.txt') }],
    ['read_text_file', { path: join(folder, 'gone.txt') }],
  ],
  everything: () => [
    ['echo', { message: 'hello' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-tiny-image', {}],
    ['get-structured-content', { location: 'New York' }],
    ['get-annotated-message', { messageType: 'error', includeImage: true }],
    ['get-resource-links', { count: 2 }],
  ],
  memory: () => [
    ['create_entities', { entities: [{ name: 'Anna', entityType: 'person', observations: ['tall'] }] }],
    ['read_graph', {}],
    ['search_nodes', { query: 'Anna' }],
  ],
  'sequential-thinking': () => [
    ['sequentialthinking', { thought: 'One.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
  ],
};

describe(`the reference servers ${version}, through the proxy`, () => {
  test.each(Object.keys(calls) as ServerName[])('%s lists the same tools and gives the same bytes', async (name) => {
    const { direct, proxied, folder } = await connectBoth(name);
    expect(proxied.client.getServerVersion()).toEqual(direct.client.getServerVersion());
    expect(await request(proxied.client, 'tools/list')).toBe(await request(direct.client, 'tools/list'));
    for (const [tool, input] of calls[name](folder)) {
      const params = { name: tool, arguments: input };
      const plain = await request(direct.client, 'tools/call', params);
      expect(await request(proxied.client, 'tools/call', params), tool).toBe(plain);
    }
  });

  test('filesystem does not give a secret away through the proxy', async () => {
    const { direct, proxied, folder } = await connectBoth('filesystem');
    const params = { name: 'read_text_file', arguments: { path: join(folder, '.env') } };
    expect(await request(direct.client, 'tools/call', params)).toContain('CANARY-7431');
    const refused = await request(proxied.client, 'tools/call', params);
    expect(refused).toContain('holds secrets');
    expect(refused).not.toContain('CANARY-7431');
    expect(proxied.asked).toEqual([]);
  });

  test('everything: a resource and a prompt are the same', async () => {
    const { direct, proxied } = await connectBoth('everything');
    for (const method of ['resources/list', 'prompts/list'])
      expect(await request(proxied.client, method)).toBe(await request(direct.client, method));
    const params = { name: 'simple-prompt' };
    expect(await request(proxied.client, 'prompts/get', params)).toBe(
      await request(direct.client, 'prompts/get', params),
    );
  });
});
