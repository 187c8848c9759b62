import { allow, definePolicy, defineTool, deny, type Policy, type RunEvent, type Tool } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { type CallOptions, executeToolCall } from '../index.ts';

/* Direct calls share their scope with the call before. Changes since then apply from the next call on. */

function answering(value: string, name = 'look'): Tool {
  return defineTool({ name, description: 'Looks.', effects: 'none', execute: () => value });
}

function policy(name: string, check: Policy['check'] = () => allow): Policy {
  return definePolicy({ name, check });
}

interface World {
  readonly tools: Tool[];
  readonly policies: Policy[];
  options: CallOptions;
}

function world(): World {
  const tools = [answering('one')];
  const policies = [policy('first'), policy('second')];
  return { tools, policies, options: { tools, policies, session: createSession() } };
}

async function look({ options }: World, name = 'look'): Promise<string> {
  const outcome = await executeToolCall({ name, arguments: '{}' }, options);
  if (outcome.kind === 'suspended') return 'suspended';
  return outcome.kind === 'ok' ? outcome.text : (outcome.code ?? outcome.kind);
}

const asking = (): Policy => policy('asking', () => ({ type: 'ask', reason: 'Sure?' }));

test.each<readonly [string, (world: World) => void, string]>([
  ['nothing', () => undefined, '"one"'],
  ['a policy is added', ({ policies }) => policies.push(policy('third', () => deny('No.'))), 'policy.denied'],
  [
    'a policy is replaced',
    ({ policies }) =>
      policies.splice(
        0,
        1,
        policy('other', () => deny('No.')),
      ),
    'policy.denied',
  ],
  ['policies take a key twice', ({ policies }) => policies.push(policy('first')), 'policy.invalid: key.duplicate'],
  ['a tool is replaced', ({ tools }) => tools.splice(0, 1, answering('two')), '"two"'],
  ['a tool is added', ({ tools }) => tools.push(answering('two', 'other')), '"one"'],
  ['a tool is added before it', ({ tools }) => tools.unshift(answering('two', 'other')), '"one"'],
  ['the tool is taken out', ({ tools }) => tools.splice(0, 1, answering('two', 'other')), 'tool.unknown'],
  ['a name is taken twice', ({ tools }) => tools.push(answering('two')), 'tool.invalid: name.duplicate'],
  ['a value that is not a tool is added', ({ tools }) => tools.push('look' as never), 'options.invalid: kind'],
  ['a value that is not a policy is added', ({ policies }) => policies.push({} as never), 'options.invalid: kind'],
  [
    'another list of policies is passed',
    (given) => {
      given.options = { ...given.options, policies: [policy('third', () => deny('No.'))] };
    },
    'policy.denied',
  ],
  [
    'the list of policies is left out',
    (given) => {
      const { policies: _left, ...options } = given.options;
      given.options = options;
    },
    '"one"',
  ],
  [
    'nobody is there any more to ask',
    (given) => {
      given.policies.push(asking());
      given.options = { ...given.options, unattended: true };
    },
    'approval.unattended',
  ],
  [
    'the host approves from now on',
    (given) => {
      given.policies.push(asking());
      given.options = { ...given.options, approve: () => ({ type: 'approve' }) };
    },
    '"one"',
  ],
  ['approval is needed from now on', ({ policies }) => policies.push(asking()), 'suspended'],
])('%s', async (_name, change, expected) => {
  const given = world();
  expect(await look(given)).toBe('"one"');
  expect(await look(given)).toBe('"one"');
  change(given);
  const next = await look(given).catch((thrown: { code: string }) => describeCode(thrown));
  expect(next).toBe(expected);
});

test('a policy that is taken out denies nothing any more', async () => {
  const given = world();
  given.policies.push(policy('third', () => deny('No.')));
  expect(await look(given)).toBe('policy.denied');
  given.policies.pop();
  expect(await look(given)).toBe('"one"');
});

test('another tool of a list that was exchanged meanwhile is the one that is there', async () => {
  const given = world();
  given.tools.push(answering('two', 'other'));
  expect(await look(given)).toBe('"one"');
  given.tools[1] = answering('three', 'third');
  expect(await look(given)).toBe('"one"');
  expect(await look(given, 'third')).toBe('"three"');
  expect(await look(given, 'other')).toBe('tool.unknown');
});

test('a listener hears of the calls that it is passed with', async () => {
  const given = world();
  const heard: string[] = [];
  const listen = (name: string) => (event: RunEvent) => {
    if (event.type === 'tool-call-end') heard.push(name);
  };
  await look(given);
  for (const name of ['a', 'b', 'b']) {
    given.options = { ...given.options, onEvent: listen(name) };
    await look(given);
  }
  expect(heard).toEqual(['a', 'b', 'b']);
});

test('a clock and a size that are passed count for the call that they are passed with', async () => {
  const given = world();
  given.tools[0] = answering('long '.repeat(1_000));
  const whole = await look(given);
  given.options = { ...given.options, maxResultChars: 1_000 };
  expect((await look(given)).length).toBe(1_000);
  given.options = { tools: given.tools, policies: given.policies, session: given.options.session };
  expect(await look(given)).toBe(whole);
});
