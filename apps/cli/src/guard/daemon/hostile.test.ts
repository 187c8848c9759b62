import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { bash, createHookWorld, toEvent } from '../../testing/test-hook.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { findLogFolder } from '../../workspace/session-logs.ts';
import { askDaemon } from './ask.ts';

const numRuns = inject('long') > 0 ? Math.ceil(100_000 * inject('long')) : 200;

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('../../.env', '\u0000', '__proto__', '\u001b[2J', '\ud800', 'a'.repeat(5_000), '/proc/self/environ'),
);
const event = fc.constantFrom('PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SessionStart', 'UserPromptSubmit');

interface Hostile {
  readonly kind: 'secret' | 'broken' | 'any';
  toText(cwd: string, id: string): string;
}

/** A read of a secret, with anything beside it. */
const secret: fc.Arbitrary<Hostile> = fc.dictionary(odd, fc.jsonValue(), { maxKeys: 4 }).map((more) => ({
  kind: 'secret',
  toText(cwd, id) {
    const known = JSON.parse(toEvent(cwd, 'PreToolUse', id, bash('cat .env')));
    // Made by hand: `__proto__` stays a key of its own.
    const pairs = Object.entries({ ...more, ...known }).map((pair) => pair.map((one) => JSON.stringify(one)).join(':'));
    return `{${pairs.join(',')}}`;
  },
}));
const call: fc.Arbitrary<Hostile> = fc
  .record({
    event,
    name: fc.oneof(odd, fc.constantFrom('Bash', 'Write', 'Read')),
    key: odd,
    value: fc.jsonValue(),
    odd,
  })
  .map((made) => ({
    kind: 'any',
    toText: (cwd, id) =>
      toEvent(cwd, made.event, id, {
        name: made.name,
        input: { [made.key]: made.value, command: made.odd, file_path: made.odd },
      }),
  }));
const strange: fc.Arbitrary<Hostile> = fc
  .record(
    {
      hook_event_name: fc.oneof(event, odd),
      session_id: fc.jsonValue(),
      cwd: odd,
      tool_name: fc.jsonValue(),
      tool_input: fc.jsonValue(),
    },
    { requiredKeys: ['hook_event_name'] },
  )
  .map((made) => ({ kind: 'any', toText: () => JSON.stringify(made) }));
const broken: fc.Arbitrary<Hostile> = fc
  .oneof(
    odd.filter((text) => !/^\s*(?:\d|true|false|null|")/.test(text)),
    fc.nat(200_000).map((depth) => '['.repeat(depth + 1)),
    fc.nat(100_000).map((depth) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}`),
    fc.nat(80).map((length) => toEvent('/w', 'PreToolUse', 't', bash('ls')).slice(0, length)),
    fc.constant(
      toEvent('/w', 'PreToolUse', 't', bash('cat .env')).replace('{', '{"tool_name":"Read","tool_name":"Bash",'),
    ),
  )
  .map((text) => ({ kind: 'broken', toText: () => text }));

test(`${numRuns} hostile events in one session: each is answered, none that cannot be read is let through, and the log is whole`, async () => {
  await using world = await createHookWorld('here');
  const { folder, daemon, host } = world;
  if (daemon === undefined) throw new Error('no daemon');
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(secret, call, strange, broken), async ({ kind, toText }) => {
      asked += 1;
      const text = toText(folder.path, `t${asked}`);
      const answer = await askDaemon(
        daemon.announcement,
        { agent: 'claude-code', text, directory: folder.path },
        60_000,
      );
      const { exitCode, stdout, stderr } = answer ?? { exitCode: undefined, stdout: '', stderr: '' };
      expect([0, 2]).toContain(exitCode);
      const said = stdout === '' ? {} : JSON.parse(stdout);
      const isDenied = exitCode === 2 || said.hookSpecificOutput?.permissionDecision === 'deny';
      if (kind !== 'any') expect({ text: text.slice(0, 200), isDenied }).toMatchObject({ isDenied: true });
      expect(`${stdout}${stderr}`).not.toMatch(/CANARY|\n {4}at /);
    }),
    // Shrinking would continue in a session that is no longer the same.
    { numRuns, endOnFailure: true },
  );
  const { records, problem } = readLog(join(findLogFolder(guardFolder(host)), 'claude-code-s-1.jsonl'));
  expect(problem).toBeUndefined();
  expect(records.filter(({ type }) => type === 'tool-call-end').length).toBeGreaterThan(numRuns / 8);
  expect(JSON.stringify(records)).not.toContain('CANARY');
});
