import { join } from 'node:path';
import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { formats } from './formats.ts';
import {
  claudeLines,
  codexLines,
  geminiLines,
  piLines,
  toLines,
  toTranscripts,
  writeOpencode,
} from './test-transcripts.ts';
import { findTranscripts, readTranscript, type Step } from './transcript.ts';

async function readAll(home: string): Promise<Readonly<Record<string, readonly Step[]>>> {
  const read: Record<string, readonly Step[]> = {};
  for (const format of formats) {
    const steps: Step[] = [];
    for (const found of await findTranscripts(format, home, 0))
      for await (const line of readTranscript(found)) steps.push(...(line?.steps ?? []));
    read[format.agent.name] = steps.filter(({ type }) => type !== 'place');
  }
  return read;
}

test('each agent: calls in order with their results', async () => {
  const commands = [{ command: 'ls' }, { command: 'false', ends: 1 }, { command: 'git push', ends: 'no' as const }];
  await using home = await createFolder(toTranscripts('/w', commands));
  writeOpencode(home.path, '/w', commands);
  const read = await readAll(home.path);
  expect(Object.keys(read)).toEqual(['claude-code', 'codex', 'gemini', 'opencode', 'pi']);
  for (const [agent, steps] of Object.entries(read)) {
    const calls = steps.flatMap((step) => (step.type === 'call' ? [step] : []));
    expect(calls.map(({ input }) => input['command'])).toEqual(['ls', 'false', 'git push']);
    // pi has no questions of its own.
    const ends = [true, false, agent === 'pi' ? false : 'not-run'];
    expect(calls.map(({ id }) => steps.find((step) => step.type === 'result' && step.id === id))).toMatchObject(
      ends.map((ok) => ({ ok })),
    );
  }
});

const codexItem = async (payload: object): Promise<Step | undefined> => {
  await using home = await createFolder({
    '.codex/sessions/rollout-a.jsonl': toLines([...codexLines('/w', []), { type: 'response_item', payload }]),
  });
  return (await readAll(home.path))['codex']?.[0];
};

test.each<[string, object, object]>([
  [
    'a list of words',
    { type: 'function_call', name: 'shell', arguments: '{"command":["git","commit","-m","a b"],"workdir":"/x"}' },
    { name: 'Bash', input: { command: "git commit -m 'a b'" }, cwd: '/x' },
  ],
  [
    'a login shell',
    { type: 'function_call', name: 'shell', arguments: '{"command":["bash","-lc","ls | wc"]}' },
    { name: 'Bash', input: { command: 'ls | wc' } },
  ],
  [
    'its own shell call',
    { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], working_directory: '/x' } },
    { name: 'Bash', input: { command: 'ls' }, cwd: '/x' },
  ],
  [
    'a patch',
    { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch' },
    { name: 'apply_patch', input: { command: '*** Begin Patch' } },
  ],
  [
    'a server tool',
    { type: 'function_call', namespace: 'mcp__files', name: 'read_file', arguments: '{"path":"a"}' },
    { name: 'mcp__files__read_file', input: { path: 'a' } },
  ],
  [
    'more rights',
    { type: 'function_call', name: 'shell', arguments: '{"command":"ls","with_escalated_permissions":true}' },
    { needsYes: true },
  ],
  [
    'arguments that cannot be parsed',
    { type: 'function_call', name: 'exec_command', arguments: '{"cmd":' },
    { name: 'exec_command', input: {} },
  ],
])('codex: %s', async (_, payload, step) => {
  expect(await codexItem({ call_id: 'c', ...payload })).toMatchObject({ type: 'call', id: 'c', ...step });
});

test.each<[string, unknown, unknown]>([
  ['JSON with its exit code', '{"output":"x","metadata":{"exit_code":0}}', true],
  ['JSON with another', '{"output":"x","metadata":{"exit_code":2}}', false],
  ['a text with its exit code', 'Exit code: 1\nWall time: 1', false],
  ['a text without', 'out', 'unknown'],
  ['nothing', undefined, 'unknown'],
])('codex: a result that is %s', async (_, output, ok) => {
  expect(await codexItem({ type: 'function_call_output', call_id: 'c', output })).toEqual({
    type: 'result',
    id: 'c',
    ok,
  });
});

test('only files of an agent that changed in time are transcripts; links to folders are not followed', async () => {
  await using home = await createFolder({
    '.codex/sessions/rollout-a.jsonl': '',
    '.codex/sessions/notes.jsonl': '',
    '.codex/history.jsonl': '',
    '.claude/projects/a.jsonl': '',
    '.claude/projects/-w/s1/subagents/agent-1.jsonl': '',
  });
  await home.link('.codex/sessions/loop', '.');
  const list = async (sinceMs: number): Promise<readonly string[]> =>
    (await Promise.all(formats.map((format) => findTranscripts(format, home.path, sinceMs))))
      .flat()
      .map(({ path }) => path);
  expect(await list(0)).toEqual(
    ['.claude/projects/-w/s1/subagents/agent-1.jsonl', '.codex/sessions/rollout-a.jsonl'].map((path) =>
      join(home.path, path),
    ),
  );
  expect(await list(Date.now() + 86_400_000)).toEqual([]);
});

const jsonLines: Readonly<Record<string, readonly object[]>> = {
  'claude-code': claudeLines('/w', [{ command: 'ls' }, { command: 'rm x', ends: 'no' }]),
  codex: codexLines('/w', [{ command: 'ls' }, { command: 'rm x', ends: 1 }]),
  gemini: geminiLines([{ command: 'ls' }, { command: 'rm x', ends: 'no' }]),
  opencode: [
    {
      session: 's1',
      parent: null,
      directory: '/w',
      part: {
        type: 'tool',
        callID: 'c',
        tool: 'bash',
        state: { status: 'completed', input: {}, metadata: { exit: 0 } },
      },
    },
  ],
  pi: piLines('/w', [{ command: 'ls' }, { command: 'rm x', ends: 1 }]),
};

test.each(formats.map((format) => [format.agent.name, format] as const))(
  '%s: a field of another type, without its value or more than is known reads as less, and nothing fails',
  (name, format) => {
    const lines = jsonLines[name] ?? [];
    let read = 0;
    for (const line of lines)
      for (const drifted of driftsOf(line as JsonObject)) {
        read += 1;
        for (const step of format.read(drifted as JsonObject)) {
          if (step.type === 'place') continue;
          expect(step.id).toBeTypeOf('string');
          if (step.type === 'call') expect([typeof step.name, isPlainObject(step.input)]).toEqual(['string', true]);
        }
      }
    expect(read).toBeGreaterThan(50);
  },
);

const odd: readonly Json[] = [null, 7, '', true, [], {}, [[]], '\u0000', { __proto__x: 1 }];

/** The value with one of its parts replaced, left out or added, at every depth. */
function* driftsOf(value: Json): Generator<Json> {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    yield [...items, 'more'];
    for (const [index, item] of items.entries())
      for (const drifted of [...odd, ...driftsOf(item)]) yield items.with(index, drifted);
  } else if (isPlainObject(value)) {
    const fields = value as JsonObject;
    yield { ...fields, unheard: { of: [1] } };
    for (const [key, item] of Object.entries(fields)) {
      const { [key]: _, ...rest } = fields;
      yield rest;
      for (const drifted of [...odd, ...driftsOf(item)]) yield { ...fields, [key]: drifted };
    }
  }
}
