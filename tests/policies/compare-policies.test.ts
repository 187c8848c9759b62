import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, memoryDisk } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { denyTools, packPolicies, pathScope, readBeforeWrite } from '@holdfast/policy';
import { createSession, type LogRecord, memoryStore } from '@holdfast/session';
import { createJsonlLog, readLog } from '@holdfast/session/jsonl';
import { type ComparedCall, comparePolicies } from '@holdfast/testing/recorded';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  listEnds,
  listPolicies,
  playSession,
  policiesOf,
  type RandomSession,
  randomSession,
} from '../logs/random-sessions.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-compare-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function record(session: RandomSession): Promise<readonly LogRecord[]> {
  const store = memoryStore();
  await playSession(session, store);
  return store.records;
}

let files = 0;

/** As they come back from a file. */
async function recordToFile(session: RandomSession): Promise<readonly LogRecord[]> {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  await playSession(session, createJsonlLog(path));
  return readLog(path).records;
}

const runs = 20;

test.each([
  { store: 'memory', play: record },
  { store: 'jsonl', play: recordToFile },
])('what was in force says to every call what it said when the session was recorded: $store', async ({ play }) => {
  let calls = 0;
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(randomSession, async (session) => {
      const records = await play(session);
      const policies = policiesOf(session);
      const compared = await comparePolicies(records, { before: policies, after: [] });
      const ends = listEnds(records);
      expect(compared.map(({ seq }) => seq)).toEqual(ends.map(({ seq }) => seq));
      for (const [index, { before, outcome, tool }] of compared.entries()) {
        const end = ends[index];
        const decisions = (end?.['decisions'] ?? []) as readonly { readonly type: string; readonly reason?: string }[];
        expect(end).toMatchObject({ name: tool, outcome: { kind: outcome } });
        expect(before.judgements.map(({ type }) => type)).toEqual(
          decisions.map(({ type, reason }) => (reason === 'Approved.' ? 'ask' : type)),
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        calls += 1;
      }
    }),
    { numRuns: runs },
  );
  // The cases met, so that nothing passes for want of them.
  expect(calls).toBeGreaterThan(runs * 5);
  expect([...outcomes.keys()]).toEqual(expect.arrayContaining(['ok', 'failed', 'denied', 'in-doubt']));
});

const changes = (compared: readonly ComparedCall[]): readonly string[] => compared.map(({ change }) => change);

test('a list of policies compared with itself shows no change', async () => {
  await fc.assert(
    fc.asyncProperty(randomSession, async (session) => {
      const compared = await comparePolicies(await record(session), { before: listPolicies(), after: listPolicies() });
      expect(new Set(changes(compared))).toEqual(new Set(compared.length === 0 ? [] : ['same']));
    }),
    { numRuns: runs },
  );
});

test('tools that are denied as well tighten their own calls, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomSession,
      fc.subarray(['look', 'note', 'group', 'lose'], { minLength: 1 }),
      async (session, denied) => {
        const before = policiesOf(session);
        const compared = await comparePolicies(await record(session), {
          before,
          after: [...before, denyTools(denied)],
        });
        for (const { tool, before: was, after, change } of compared) {
          const expected = !denied.includes(tool) ? 'same' : was.type === 'deny' ? 'reason' : 'tightened';
          expect(change, tool).toBe(expected);
          if (denied.includes(tool)) expect(after.type).toBe('deny');
        }
      },
    ),
    { numRuns: runs },
  );
});

test('before and after swapped, what was tightened is widened', async () => {
  const opposite = new Map([
    ['tightened', 'widened'],
    ['widened', 'tightened'],
  ]);
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(
      randomSession,
      fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      async (session, inForce) => {
        const records = await record(session);
        const [one, other] = [policiesOf(session), policiesOf({ inForce })];
        const there = await comparePolicies(records, { before: one, after: other });
        const back = await comparePolicies(records, { before: other, after: one });
        expect(changes(back)).toEqual(changes(there).map((change) => opposite.get(change) ?? change));
        expect(back.map(({ after }) => after)).toEqual(there.map(({ before }) => before));
        changed += there.filter(({ change }) => opposite.has(change)).length;
      },
    ),
    { numRuns: runs },
  );
  expect(changed).toBeGreaterThan(runs);
});

const file = fc.constantFrom(
  'src/a.ts',
  './src/../src/a.ts',
  'src/new.ts',
  '.env',
  '.git/config',
  '../out',
  'notes.md',
);
const fileCall = fc.oneof(
  file.map((path) => ({ name: 'read_file', arguments: { path } })),
  file.map((path) => ({ name: 'write_file', arguments: { path, content: 'new' } })),
  file.map((path) => ({ name: 'delete_file', arguments: { path } })),
  file.map((path) => ({ name: 'list_files', arguments: { path } })),
  fc.constant({ name: 'grep_files', arguments: { pattern: 'o', path: 'src' } }),
);

test('policies about paths say what they said; one about the content of files is unknown where it looks at it', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(fileCall, { minLength: 1, maxLength: 12 }), async (calls) => {
      const store = memoryStore();
      const session = createSession({ store });
      const tools = fileTools();
      const files = { 'src/a.ts': 'old', '.env': 'KEY=1', '.git/config': 'old', 'notes.md': 'old' };
      const policies = [
        pathScope({ read: ['src', '.env'], write: ['src'] }),
        ...packPolicies(filesystemGuard),
        readBeforeWrite(),
      ];
      const disk = memoryDisk(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/w/${path}`, text])));
      const facts = createFacts({ describers: [fileFacts()], view: { folder: '/w', workspace: '/w', disk } });
      const options = { tools, session, policies, facts, resources: { filesystem: memoryFilesystem(files) } };
      for (const call of calls) await executeToolCall(call, options);
      const filesystem = memoryFilesystem().readOnly;
      const compared = await comparePolicies(store.records, {
        before: policies,
        after: [],
        tools,
        filesystem,
        workspace: '/w',
      });
      const ends = listEnds(store.records);
      expect(compared).toHaveLength(ends.length);
      for (const [index, { before, tool }] of compared.entries()) {
        const decisions = ends[index]?.['decisions'] as readonly { readonly type: string }[];
        const [about, byContent] = [before.judgements.slice(0, -1), before.judgements.at(-1)];
        // Those of the tools that search look at the names of files.
        if (tool !== 'grep_files')
          expect(about.map(({ type }) => type)).toEqual(decisions.slice(0, -1).map(({ type }) => type));
        for (const { type } of about) seen.add(`${tool} ${type}`);
        const isWriter = ['write_file', 'delete_file'].includes(tool);
        // Paths that lead out of the folder are refused before their content is read.
        expect(isWriter ? ['unknown', 'deny'] : ['allow']).toContain(byContent?.type);
        if (byContent?.type === 'deny') expect(decisions.at(-1)?.type).toBe('deny');
      }
    }),
    { numRuns: runs },
  );
  expect([...seen]).toEqual(
    expect.arrayContaining(['read_file allow', 'read_file deny', 'write_file allow', 'write_file deny']),
  );
});
