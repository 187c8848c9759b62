import { defineTool, type Redactor, type ToolContext } from '@holdfast/core';
import { createSession, memoryStore, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { expect, test } from 'vitest';
import { echo, outcomeOf, playing, say, stop, toolsPrompt } from '../fixtures.ts';
import { executeToolCall, openCaller, resumeToolCall, runAgent } from '../index.ts';

const key = 'a key known only to the host';
const methods = [
  'redact',
  'learn',
  'learnArguments',
  'learnReturned',
  'maskRecord',
  'maskEvent',
  'maskOperation',
  'maskExport',
] as const satisfies readonly (keyof Redactor)[];
type Method = (typeof methods)[number];
type Mutable = { -readonly [Key in keyof Redactor]: Redactor[Key] };

/** A session of another version of the package, which has not looked at its redactor. */
function foreignSession(session: Session, redactor: Redactor): Session {
  return new Proxy(session, {
    get(target, name) {
      if (name === 'redactor') return redactor;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const invalid = (method: Method) =>
  expect.objectContaining({
    code: 'options.invalid',
    message: expect.stringMatching(new RegExp(`no \`${method}\`: .*\`createRedactor\``)),
  });

const call = { id: 'c', name: 'echo', arguments: '{"q":"x"}' };
const runners: Readonly<Record<string, (session: Session) => unknown>> = {
  executeToolCall: (session) => executeToolCall(call, { tools: [echo], session }),
  resumeToolCall: (session) => resumeToolCall('c', { tools: [echo], session }),
  openCaller: (session) => openCaller({ tools: [echo], session }),
  runAgent: (session) =>
    runAgent({ model: playing([say('done'), stop]), prompt: toolsPrompt([echo]), session, input: 'x' }).result,
};

test.each(Object.keys(runners).flatMap((runner) => methods.map((method) => ({ runner, method }))))(
  '$runner begins nothing in a session whose redactor has no $method',
  async ({ runner, method }) => {
    const store = memoryStore();
    const whole = createRedactor({ key });
    const session = foreignSession(createSession({ store, redactor: whole }), {
      ...whole,
      [method]: undefined,
    } as unknown as Redactor);
    const before = store.records.length;
    await expect((async () => await runners[runner]?.(session))()).rejects.toEqual(invalid(method));
    expect(store.records).toHaveLength(before);
  },
);

/** The error of `work` while the redactor of its session has no `method`. */
async function thrownWithout(
  method: Method,
  work: (context: ToolContext, lose: () => void) => unknown,
): Promise<unknown> {
  const whole = createRedactor({ key });
  const redactor: Mutable = { ...whole };
  let thrown: unknown;
  const tool = defineTool({
    name: 'delegate',
    description: 'Delegate.',
    effects: 'none',
    async execute(_input: unknown, context) {
      try {
        await work(context, () => Reflect.deleteProperty(redactor, method));
      } catch (error) {
        thrown = error;
      } finally {
        Object.assign(redactor, whole);
      }
      return null;
    },
  });
  const session = createSession({ redactor });
  expect(await outcomeOf({ name: 'delegate', arguments: '{}' }, { tools: [tool], session })).toMatchObject({
    kind: 'ok',
  });
  return thrown;
}

test.each(methods)('no child session is made with a redactor that has no %s', async (method) => {
  const thrown = await thrownWithout(method, (context, lose) => {
    // Makes the key of the call, for which the arguments are masked, too.
    context.child();
    lose();
    context.child();
  });
  expect(thrown).toEqual(invalid(method));
});

test.each(methods)('no call begins in a child session whose redactor has no %s', async (method) => {
  let used = false;
  const using = defineTool({
    name: 'echo',
    description: 'Notes that it ran.',
    effects: 'none',
    execute() {
      used = true;
      return null;
    },
  });
  const thrown = await thrownWithout(method, (context, lose) => {
    const session = context.child();
    lose();
    return executeToolCall(call, { tools: [using], session });
  });
  expect(thrown).toEqual(invalid(method));
  expect(used).toBe(false);
});
