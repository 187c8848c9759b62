import { readFileSync } from 'node:fs';
import { allow, ask, definePolicy, deny } from '@holdfast/core';
import { createFacts } from '@holdfast/facts';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type Agent, copilot, cursor, runHook } from '../agents.ts';
import { createGuard } from '../index.ts';

// Events as the agents' makers publish them; none of these agents was run. Cursor: cursor.com/docs/reference/hooks, with the fields that
// others saw in 3.9.16. Copilot: github/docs, content/copilot/reference/hooks-reference.md.
const read = (name: string): readonly string[] =>
  readFileSync(new URL(`golden/${name}-published.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');

function tell(agent: Agent, text: string): string {
  const { cwd, event } = agent.readHook(text);
  expect(cwd).toBe('/w');
  switch (event.type) {
    case 'before':
      return `before ${event.call.name}`;
    case 'after':
      return `after ${event.call.name}: ${event.report.ok}`;
    case 'prompt':
      return `prompt ${event.request}`;
    default:
      return event.type;
  }
}

test('cursor: each event is understood', () => {
  expect(read('cursor').map((line) => tell(cursor, line))).toEqual([
    'other',
    'prompt Read it',
    'before Shell',
    'after Shell: not-run',
    'before Shell',
    'after Shell: true',
    'before Shell',
    'after Shell: false',
    'before Read',
    'before Read',
    'after Read: true',
    'before mcp__cursor__read_file',
    'other',
    'end',
  ]);
});

test('copilot: each event is understood', () => {
  expect(read('copilot').map((line) => tell(copilot, line))).toEqual([
    'other',
    'prompt Read it',
    'before Bash',
    'before Bash',
    'after Bash: unknown',
    'before Read',
    'before Write',
    'after Write: true',
    'before Edit',
    'before Edit',
    'after Edit: false',
    'other',
    'end',
  ]);
});

const policy = definePolicy({
  name: 'table',
  check: ({ facts }) => {
    const touched = [...(facts?.reads ?? []), ...(facts?.deletes ?? [])];
    if (touched.some(({ path }) => path === '/w/.env')) return deny('It holds secrets.');
    return facts?.unclear.some(({ kind }) => kind === 'tool') === true ? ask('It is unknown.') : allow;
  },
});

/** The answers to the calls of a run, by a guard of its own. */
async function answers(agent: Agent, lines: readonly string[]): Promise<readonly string[]> {
  const facts = createFacts({ describers: agent.describers, view: { folder: '/w', workspace: '/w' } });
  const guard = createGuard({ session: createSession({ store: memoryStore() }), policies: [policy], facts });
  const given: string[] = [];
  for (const line of lines) {
    const { stdout, stderr, exitCode } = await runHook(agent, line, () => Promise.resolve(guard));
    given.push(`${exitCode} ${stdout}${stderr}`);
  }
  return given;
}

describe('answers', () => {
  test('cursor: a denial in its own fields, and an answer to each call, since its hooks fail closed', async () => {
    const reason = 'Denied: It holds secrets.';
    const no = `0 ${JSON.stringify({ permission: 'deny', user_message: reason, agent_message: reason })}`;
    const yes = '0 {"permission":"allow"}';
    expect(await answers(cursor, read('cursor'))).toEqual(
      ['', '', no, '', yes, '', yes, '', no, yes, '', no, '', ''].map((text) => text || '0 '),
    );
  });

  test('copilot: exit code 2 with the reason as JSON, and nothing for a call that is allowed', async () => {
    const no = `2 ${JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'Denied: It holds secrets.' })}`;
    expect(await answers(copilot, read('copilot'))).toEqual(
      ['', '', no, '', '', no, '', '', no, '', '', '', ''].map((text) => text || '0 '),
    );
  });

  test.each<[Agent, string, (answer: string) => unknown]>([
    [cursor, 'Unheard', (text) => JSON.parse(text.slice(2))],
    [copilot, 'Unheard', (text) => JSON.parse(text.slice(2))],
  ])('an ask is a denial that says that a person has to approve (%#)', async (agent, tool, parse) => {
    const line = (agent === cursor ? read('cursor')[2] : read('copilot')[2]) ?? '';
    const event = JSON.stringify({ ...(JSON.parse(line) as object), tool_name: tool });
    const [answer = ''] = await answers(agent, [event]);
    expect(JSON.stringify(parse(answer))).toContain('A person has to approve this in Holdfast first');
  });

  test.each([cursor, copilot])('$name: what cannot be read is denied with exit code 2', async (agent) => {
    for (const text of ['', '[]', '{"hook_event_name":"preToolUse"}', '{"hook_event_name":"PreToolUse","cwd":"/w"}'])
      expect((await answers(agent, [text]))[0]).toMatch(/^2 Holdfast could not decide this call, so it is denied: /);
  });
});
