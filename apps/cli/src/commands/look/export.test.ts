import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { callEnd } from '../../testing/test-events.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { writeLog } from '../../testing/test-log.ts';
import { runHere } from '../../testing/test-program.ts';

const entries = [callEnd('ok', { callId: 'c1', name: 'read_file', message: 'secret text' })];

/** A receiver of OTLP on this machine. */
async function receive(status: number) {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    const { url: path, headers } = request;
    const answer = (body: unknown): void => {
      bodies.push({ path, type: headers['content-type'], body });
      response.writeHead(status).end('{}');
    };
    json(request).then(answer, () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { url, bodies, [Symbol.dispose]: () => void server.close() };
}

test('a session is sent to a collector', async () => {
  await using folder = await createFolder();
  using collector = await receive(200);
  await writeLog(folder.path, 'one', entries);
  const { exitCode, stdout, stderr } = await runHere(['export', 'one', '--otlp', collector.url], {
    directory: folder.path,
  });
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 0,
    stdout: `Exported session one to ${collector.url}.\n`,
    stderr: '',
  });
  expect(collector.bodies).toMatchObject([
    {
      path: '/v1/traces',
      type: 'application/json',
      body: {
        resourceSpans: [
          {
            scopeSpans: [
              { spans: [{ name: 'execute_tool read_file', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) }] },
            ],
          },
        ],
      },
    },
  ]);
  expect(JSON.stringify(collector.bodies)).not.toContain('secret text');
});

test('a file, with the content on request; an existing one is kept', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', entries);
  const argv = ['export', '--otlp', 'trace.json', '--content'];
  expect(await runHere(argv, { directory: folder.path })).toMatchObject({ exitCode: 0 });
  const text = await readFile(join(folder.path, 'trace.json'), 'utf8');
  expect(text).toContain('a.txt');
  expect(await runHere(argv, { directory: folder.path })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('file_exists'),
  });
  await writeFile(path, `${await readFile(path, 'utf8')}{"torn`);
  expect(await runHere([...argv, '--force'], { directory: folder.path })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('torn'),
  });
  expect(await readFile(join(folder.path, 'trace.json'), 'utf8')).toBe(text);
});

test('a collector that refuses, and one that is not there', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  using collector = await receive(503);
  const refused = await runHere(['export', '--otlp', collector.url], { directory: folder.path });
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('status 503') });
  const gone = await runHere(['export', '--otlp', 'http://127.0.0.1:1/'], { directory: folder.path });
  expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(command.failed: export)') });
});
