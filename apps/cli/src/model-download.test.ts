import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DownloadEvent, type DownloadTools, downloadFile, type WantedFile } from './model-download.ts';
import { openPartFile, type PartFile } from './model-part.ts';
import { createFolder, type TestFolder } from './test-folder.ts';
import {
  type Answering,
  impatientClock,
  type ModelServer,
  makeContent,
  startModelServer,
  toSha256,
  toTag,
} from './test-model-server.ts';

const content = makeContent(300_000);
const older = makeContent(300_000, 2);

interface Setup extends AsyncDisposable {
  readonly server: ModelServer;
  readonly folder: TestFolder;
  readonly path: string;
  readonly events: DownloadEvent[];
  readonly clock: ReturnType<typeof impatientClock>;
  /** The connection of a request breaks when so many bytes are there, of which it sends `sends`, all of them unless told. */
  cutAt(bytes: number, answering?: Answering & { readonly sends?: number }): void;
  pull(given?: Partial<WantedFile & DownloadTools>): ReturnType<typeof downloadFile>;
  /** The file, when it is there, and the names of whatever else is. */
  look(): Promise<{ readonly file: Buffer | undefined; readonly others: readonly string[] }>;
}

async function setUp(): Promise<Setup> {
  const server = await startModelServer({ content });
  const folder = await createFolder();
  const path = join(folder.path, 'tiny.gguf');
  const clock = impatientClock();
  const events: DownloadEvent[] = [];
  // Where the connection is cut, once what came before is there.
  const cuts = new Set<number>();
  return {
    server,
    folder,
    path,
    events,
    clock,
    cutAt(bytes, { sends = bytes, ...answering } = {}) {
      cuts.add(bytes);
      server.next.push({ ...answering, stallAt: sends });
    },
    pull: (given = {}) =>
      downloadFile(
        { url: server.url, sha256: toSha256(content), bytes: undefined, path, ...given },
        {
          clock,
          signal: new AbortController().signal,
          freeBytes: async () => 1e9,
          onEvent: (event) => {
            events.push(event);
            if (event.type === 'bytes' && cuts.delete(event.bytes)) setImmediate(server.cut);
          },
          ...given,
        },
      ),
    async look() {
      const names = await readdir(folder.path);
      return {
        file: names.includes('tiny.gguf') ? await readFile(path) : undefined,
        others: names.filter((name) => name !== 'tiny.gguf').sort(),
      };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const nothingElse = { file: content, others: [] };

test('a file is there when all of it is, and nothing else is left', async () => {
  await using setup = await setUp();
  expect(await setup.pull({ bytes: content.length })).toEqual({
    type: 'done',
    bytes: content.length,
    resumedFromBytes: 0,
  });
  expect(await setup.look()).toEqual(nothingElse);
  expect(setup.events.at(-1)).toEqual({ type: 'bytes', bytes: content.length, totalBytes: content.length });
  expect(setup.server.requests).toMatchObject([{ headers: { 'accept-encoding': 'identity' } }]);
  expect(setup.server.requests[0]?.headers.range).toBe(undefined);
});

test('an empty file is one, too', async () => {
  await using setup = await setUp();
  setup.server.always = { content: new Uint8Array() };
  expect(await setup.pull({ sha256: toSha256(new Uint8Array()) })).toMatchObject({ type: 'done', bytes: 0 });
});

test('a connection that breaks is taken up where it was', async () => {
  await using setup = await setUp();
  setup.cutAt(100_000);
  setup.server.next.push({ status: 503, headers: { 'retry-after': '7' } });
  expect(await setup.pull()).toEqual({ type: 'done', bytes: content.length, resumedFromBytes: 0 });
  expect(await setup.look()).toEqual(nothingElse);
  expect(setup.events.filter(({ type }) => type === 'retry')).toEqual([
    { type: 'retry', reason: expect.stringMatching(/^the connection broke: [A-Z_]+$/), delayMs: 1000 },
    { type: 'retry', reason: 'the server answered 503', delayMs: 7000 },
  ]);
  const asked = setup.server.requests.slice(1).map(({ headers }) => [headers['if-range'], headers.range]);
  expect(asked).toEqual(Array.from({ length: 2 }, () => [toTag(content), 'bytes=100000-']));
});

test('a server that fails again and again is left alone; what came is kept for the next pull', async () => {
  await using setup = await setUp();
  setup.cutAt(150_000);
  setup.server.next.push(...Array.from({ length: 9 }, () => ({ status: 502 })));
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.broken',
    message: expect.stringContaining('the server answered 502'),
  });
  // The first try brought something, so that it does not count.
  expect(setup.clock.delaysMs).toEqual([1000, 2000, 4000, 8000, 16_000]);
  expect((await setup.look()).others).toEqual(['tiny.gguf.part', 'tiny.gguf.part.json']);

  setup.server.next.length = 0;
  expect(await setup.pull()).toEqual({ type: 'done', bytes: content.length, resumedFromBytes: 150_000 });
  expect(await setup.look()).toEqual(nothingElse);
});

test('a whole part is only checked and not asked for', async () => {
  await using setup = await setUp();
  const { url } = setup.server;
  const record = { url, sha256: toSha256(content), validator: '"x"', totalBytes: content.length };
  await setup.folder.write('tiny.gguf.part', content);
  await setup.folder.write('tiny.gguf.part.json', JSON.stringify(record));
  expect(await setup.pull()).toMatchObject({ type: 'done', resumedFromBytes: content.length });
  expect(setup.server.requests).toEqual([]);
  expect(await setup.look()).toEqual(nothingElse);
});

const record = { sha256: toSha256(content), validator: toTag(content), totalBytes: content.length };

test.each([
  { what: 'no record', json: undefined },
  { what: 'half a record', json: '{"url":' },
  { what: 'a record that is none', json: '[]' },
  { what: 'another address', json: JSON.stringify({ ...record, url: 'https://example.com/tiny.gguf' }) },
  { what: 'another checksum', json: { ...record, sha256: toSha256(older) } },
  { what: 'no validator', json: { ...record, validator: null } },
  { what: 'less in all than is there', json: { ...record, totalBytes: 10 } },
])('a part with $what is of no use', async ({ json }) => {
  await using setup = await setUp();
  await setup.folder.write('tiny.gguf.part', older.subarray(0, 1000));
  if (json !== undefined) {
    const text = typeof json === 'string' ? json : JSON.stringify({ url: setup.server.url, ...json });
    await setup.folder.write('tiny.gguf.part.json', text);
  }
  expect(await setup.pull()).toMatchObject({ type: 'done', resumedFromBytes: 0 });
  expect(setup.server.requests).toHaveLength(1);
  expect(await setup.look()).toEqual(nothingElse);
});

test.each([
  { what: 'a file that has changed', next: {} },
  { what: 'no ranges', next: { ranges: 'none' } },
  { what: 'another range than was asked for', next: { ranges: 'wrong' } },
  { what: 'a range of a longer file', next: { content: makeContent(400_000), ranges: 'blind' } },
  { what: 'a range that cannot be had', next: { status: 416 } },
  { what: 'a range of a file with another tag', next: { ranges: 'blind', headers: { etag: '"other"' } } },
] as const)('$what: it begins anew', async ({ what, next }) => {
  await using setup = await setUp();
  const begun = what === 'a file that has changed' ? older : content;
  setup.cutAt(200_000, { content: begun });
  setup.server.next.push(next);
  expect(await setup.pull()).toMatchObject({ type: 'done' });
  expect(setup.events.filter(({ type }) => type === 'anew')).toHaveLength(1);
  expect(await setup.look()).toEqual(nothingElse);
});

test.each([
  { what: 'no tag', always: { tag: null }, range: undefined, condition: undefined },
  { what: 'a weak tag', always: { tag: 'W/"a"' }, range: undefined, condition: undefined },
  {
    what: 'a date',
    always: { tag: null, lastModified: 'Sun, 22 Nov 2026 10:00:00 GMT' },
    range: 'bytes=200000-',
    condition: 'Sun, 22 Nov 2026 10:00:00 GMT',
  },
])('a server with $what', async ({ always, range, condition }) => {
  await using setup = await setUp();
  setup.server.always = { content, ...always };
  setup.cutAt(200_000, always);
  expect(await setup.pull()).toMatchObject({ type: 'done' });
  expect(setup.server.requests[1]?.headers.range).toEqual(range);
  expect(setup.server.requests[1]?.headers['if-range']).toBe(condition);
  expect(await setup.look()).toEqual(nothingElse);
});

test('a wrong checksum: what was expected and what came, and nothing is left of it', async () => {
  await using setup = await setUp();
  setup.server.always = { content: older };
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.checksum_wrong',
    message: expect.stringContaining(`its SHA-256 is ${toSha256(older)}, expected was ${toSha256(content)}`),
    data: { expected: toSha256(content), found: toSha256(older) },
  });
  expect(await setup.look()).toEqual({ file: undefined, others: [] });
  setup.server.always = { content };
  expect(await setup.pull()).toMatchObject({ type: 'done', resumedFromBytes: 0 });
});

test.each([
  { what: 'announces more', always: { content: makeContent(300_001) } },
  { what: 'announces less', always: { content: makeContent(299_999) } },
  { what: 'sends more than it may', always: { content: makeContent(900_000), chunked: true } },
])('a server that $what than the file has', async ({ always }) => {
  await using setup = await setUp();
  setup.server.always = always;
  await expect(setup.pull({ bytes: content.length })).rejects.toMatchObject({
    code: 'download.size_wrong',
    data: { expected: content.length },
  });
  expect(await setup.look()).toEqual({ file: undefined, others: [] });
});

test('a server that does not say the size is believed only where the size is known', async () => {
  await using setup = await setUp();
  setup.server.always = { content, chunked: true };
  await expect(setup.pull()).rejects.toMatchObject({ code: 'download.size_unknown' });
  expect(await setup.pull({ bytes: content.length })).toMatchObject({ type: 'done' });
});

test.each([
  { status: 404, code: 'download.missing' },
  { status: 410, code: 'download.missing' },
  { status: 401, code: 'download.denied' },
  { status: 403, code: 'download.denied' },
  { status: 400, code: 'download.failed' },
  { status: 418, code: 'download.failed' },
  { status: 500, code: 'download.broken' },
  { status: 429, code: 'download.broken' },
  { status: 302, code: 'download.failed' },
  { status: 204, code: 'download.failed' },
])('a server that answers $status: $code', async ({ status, code }) => {
  await using setup = await setUp();
  setup.server.always = { status };
  await expect(setup.pull()).rejects.toMatchObject({ code });
  expect(setup.server.requests).toHaveLength(code === 'download.broken' ? 6 : 1);
  expect(await setup.look()).toEqual({ file: undefined, others: [] });
});

test('a server that sends a part where the whole was asked for is asked once', async () => {
  await using setup = await setUp();
  setup.server.always = { status: 206, headers: { 'content-range': 'bytes 0-13/14' } };
  await expect(setup.pull()).rejects.toMatchObject({ code: 'download.failed', data: { status: 206 } });
  expect(setup.server.requests).toHaveLength(1);
});

test('redirects are followed, each time anew, and to nowhere that is not safe', async () => {
  await using setup = await setUp();
  setup.server.next.push({ status: 302, headers: { location: '/other' } });
  setup.cutAt(100_000);
  setup.server.next.push({ status: 307, headers: { location: `${setup.server.url}?signed=1` } });
  expect(await setup.pull()).toMatchObject({ type: 'done' });
  expect(setup.server.requests.map(({ path }) => path)).toEqual([
    '/models/tiny.gguf',
    '/other',
    '/models/tiny.gguf',
    '/models/tiny.gguf?signed=1',
  ]);
  expect(setup.server.requests[3]?.headers.range).toBe('bytes=100000-');

  const bad = [
    'http://example.com/x',
    'ftp://127.0.0.1/x',
    'file:///etc/passwd',
    'http://',
    'https://me:pw@example.com/x',
  ];
  for (const location of bad) {
    setup.server.next.push({ status: 301, headers: { location } });
    await expect(setup.pull(), location).rejects.toMatchObject({
      code: 'download.redirect_refused',
      data: { location },
    });
  }
  setup.server.always = { status: 308, headers: { location: setup.server.url } };
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.redirect_refused',
    message: expect.stringContaining('more than 10 times'),
  });
});

test('nobody answers: it is said at once, and at the second time only after something came', async () => {
  await using setup = await setUp();
  const gone = await startModelServer();
  await gone[Symbol.asyncDispose]();
  await expect(setup.pull({ url: gone.url })).rejects.toMatchObject({
    code: 'download.unreachable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  expect(setup.clock.delaysMs).toEqual([]);
  setup.server.next.push({ stallAt: 200_000 });
  const ended = setup.pull({
    onEvent: ({ type }) => {
      // From then on nobody answers.
      if (type === 'bytes') void setup.server[Symbol.asyncDispose]();
    },
  });
  await expect(ended).rejects.toMatchObject({ code: 'download.unreachable' });
  expect(setup.clock.delaysMs).toEqual([1000, 2000, 4000, 8000, 16_000]);
  expect((await setup.look()).others).toEqual(['tiny.gguf.part', 'tiny.gguf.part.json']);
});

test('a connection that says nothing for too long is broken off, and another one goes on', async () => {
  await using setup = await setUp();
  setup.server.next.push({ stallAt: 100_000 });
  const end = await setup.pull({
    onEvent: (event) => {
      setup.events.push(event);
      if (event.type === 'bytes' && event.bytes === 100_000) setImmediate(() => setup.clock.pass(30_000));
    },
  });
  expect(end).toMatchObject({ type: 'done' });
  expect(setup.events).toContainEqual({ type: 'retry', reason: 'nothing came for 30 seconds', delayMs: 1000 });
  expect(setup.server.requests[1]?.headers.range).toBe('bytes=100000-');
  expect(await setup.look()).toEqual(nothingElse);
});

test('a slow connection is none that says nothing', async () => {
  await using setup = await setUp();
  const long = makeContent(3_000_000);
  setup.server.always = { content: long };
  const end = await setup.pull({
    sha256: toSha256(long),
    onEvent: (event) => {
      setup.events.push(event);
      setup.clock.pass(29_000);
    },
  });
  expect(end).toMatchObject({ type: 'done' });
  expect(setup.events.length).toBeGreaterThan(4);
  expect(setup.server.requests).toHaveLength(1);
});

test('who brings something each time may break as often as it likes', async () => {
  await using setup = await setUp();
  const long = makeContent(900_000);
  setup.server.always = { content: long };
  for (let count = 0; count < 10; count += 1) setup.cutAt(80_000 * (count + 1), { content: long, sends: 80_000 });
  expect(await setup.pull({ sha256: toSha256(long) })).toMatchObject({ type: 'done' });
  expect(setup.clock.delaysMs).toEqual(Array.from({ length: 10 }, () => 1000));
});

test('stopped while it comes, while it waits and while it reads what is there: the part is kept', async () => {
  await using setup = await setUp();
  const stopAt = async (isTime: (event: DownloadEvent) => boolean, clock: Clock = setup.clock) => {
    const controller = new AbortController();
    return await setup.pull({
      clock,
      signal: controller.signal,
      onEvent: (event) => {
        if (isTime(event)) setImmediate(() => controller.abort());
      },
    });
  };
  setup.server.next.push({ stallAt: 100_000 });
  expect(await stopAt((event) => event.type === 'bytes' && event.bytes === 100_000)).toEqual({
    type: 'stopped',
    bytes: 100_000,
  });
  setup.server.next.push({ status: 503 });
  const patient = { now: () => 0, after: () => () => undefined };
  expect(await stopAt(({ type }) => type === 'retry', patient)).toEqual({ type: 'stopped', bytes: 100_000 });
  expect(await setup.pull({ signal: AbortSignal.abort() })).toEqual({ type: 'stopped', bytes: 0 });
  expect(await setup.pull()).toEqual({ type: 'done', bytes: content.length, resumedFromBytes: 100_000 });
  expect(await setup.look()).toEqual(nothingElse);
});

test('too little room is said before anything comes, and by how much', async () => {
  await using setup = await setUp();
  await expect(setup.pull({ freeBytes: async () => content.length - 1 })).rejects.toMatchObject({
    code: 'download.disk_full',
    data: { neededBytes: content.length, freeBytes: content.length - 1 },
  });
  expect(await setup.look()).toEqual({ file: undefined, others: [] });
  // Of what is there, no room is wanted again.
  setup.cutAt(200_000);
  let asked = 0;
  const freeBytes = async () => {
    asked += 1;
    return asked === 1 ? content.length : 100_000;
  };
  await expect(setup.pull({ freeBytes })).resolves.toMatchObject({ type: 'done' });
});

/** A disk that fails with `code` once so many bytes were written. */
async function openFailing(path: string, code: string, afterBytes: number): Promise<PartFile> {
  const file = await openPartFile(path);
  let written = 0;
  return {
    async appendFile(bytes) {
      const left = afterBytes - written;
      written += bytes.length;
      if (bytes.length <= left) return await file.appendFile(bytes);
      await file.appendFile(bytes.subarray(0, Math.max(0, left)));
      throw Object.assign(new Error('A disk.'), { code });
    },
    truncate: () => file.truncate(),
    sync: () => file.sync(),
    close: () => file.close(),
  };
}

test.each([
  { code: 'ENOSPC', expected: 'download.disk_full' },
  { code: 'EDQUOT', expected: 'download.disk_full' },
  { code: 'EIO', expected: 'download.unwritable' },
])('a disk that fails with $code in the middle: what is there is kept and right', async ({ code, expected }) => {
  await using setup = await setUp();
  const ended = setup.pull({ openFile: (path) => openFailing(path, code, 70_001) });
  await expect(ended).rejects.toMatchObject({ code: expected });
  expect(await setup.pull()).toEqual({ type: 'done', bytes: content.length, resumedFromBytes: 70_001 });
  expect(await setup.look()).toEqual(nothingElse);
});

const step = fc.record(
  {
    content: fc.constantFrom(content, older, content.subarray(0, 250_000)),
    ranges: fc.constantFrom('good', 'none', 'blind', 'wrong'),
    status: fc.constantFrom(416, 500, 503, 404, 206),
    breakAt: fc.nat({ max: content.length }),
    chunked: fc.boolean(),
    tag: fc.constantFrom(null, '"same"'),
  },
  { requiredKeys: ['breakAt'] },
);

test('whatever breaks, and however often it is pulled again: in the end the file is complete and right', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 8 }),
    fc.nat({ max: content.length }),
    async (steps, stopAt) => {
      await using setup = await setUp();
      setup.server.next.push(...steps);
      let stops = 1;
      for (let pulls = 0; pulls < steps.length + 3; pulls += 1) {
        const controller = new AbortController();
        const end = await setup
          .pull({
            bytes: pulls % 2 === 0 ? undefined : content.length,
            signal: controller.signal,
            onEvent: (event) => {
              if (stops === 0 || event.type !== 'bytes' || event.bytes < stopAt) return;
              stops -= 1;
              controller.abort();
            },
          })
          .catch((thrown: { readonly code: string }) => thrown);
        const { file } = await setup.look();
        // A file is there if and only if it was said, and never a wrong one.
        expect(file === undefined || file.equals(content)).toBe(true);
        expect(file !== undefined).toBe('type' in end && end.type === 'done');
        if (file !== undefined) return;
        if ('code' in end) expect(end.code).toMatch(/^download\.(?:broken|missing|failed|size_\w+|checksum_wrong)$/);
      }
      throw new Error('It never came.');
    },
  );
  await fc.assert(property, { numRuns: 60 });
}, 60_000);
