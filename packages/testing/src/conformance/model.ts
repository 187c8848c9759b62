import {
  HoldfastError,
  type JsonObject,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ToolDeclaration,
} from '@holdfast/core';
import { decodeJson, deepFreeze } from '@holdfast/core/internal';
import type { ScriptedTurn } from '../fakes/scripted-model.ts';
import { type ConformanceCheck, same, toConformanceCheck } from './check.ts';

/** A provider's reply to one request: a message, or a failure. */
export type ProviderReply = ScriptedTurn | { readonly throw: unknown };

/** A model with a provider played by a test. */
export interface ModelUnderTest {
  readonly model: Model;
  /** The requests that the provider received, in its own form: they are searched for names and texts. */
  readonly sent: () => readonly unknown[];
}

export interface ModelConformanceOptions {
  /** A new model with a provider that returns `replies`, one per request. */
  readonly create: (replies: readonly ProviderReply[]) => ModelUnderTest | Promise<ModelUnderTest>;
  /** Unsupported features of the provider: tools, output schemas, both combined, token counts. Default: none. */
  readonly without?: readonly ModelNeed[];
}

/**
 * Conformance checks for a `Model`, for any test runner: each check is one test, `test(name, run)`, with its own model.
 */
export function modelConformance({ create, without = [] }: ModelConformanceOptions): readonly ConformanceCheck[] {
  return modelChecks.map(({ name, replies, needs = [], run }) => {
    const lacking = needs.find((need) => without.includes(need));
    const skipped = lacking === undefined ? undefined : `the provider is without \`${lacking}\``;
    return toConformanceCheck(name, skipped, async () => run(await create(replies)));
  });
}

/** Optional features of a provider. `output`: output schemas. `output-beside-tools`: both in one request. */
export type ModelNeed = 'tools' | 'output' | 'output-beside-tools' | 'usage';

export interface ModelCheck {
  readonly name: string;
  readonly replies: readonly ProviderReply[];
  readonly needs?: readonly ModelNeed[];
  readonly run: (test: ModelUnderTest) => Promise<void>;
}

const user: Message = { role: 'user', text: 'What is the capital of Peru?' };
const lookUp: ToolDeclaration = deepFreeze({
  name: 'look_up_capital',
  description: 'Looks up the capital of a country.',
  inputSchema: {
    type: 'object',
    properties: { country: { type: 'string' } },
    required: ['country'],
    additionalProperties: false,
  },
});
const output: JsonObject = deepFreeze({
  type: 'object',
  properties: { capital_city: { type: 'string' } },
  required: ['capital_city'],
  additionalProperties: false,
});
const answer = '{"capital_city":"Lima"}';
const usage = { inputTokens: 10, outputTokens: 5 };
const call = { id: 'call-1', name: lookUp.name, arguments: { country: 'Peru' } };
const otherCall = { id: 'call-2', name: lookUp.name, arguments: { country: 'Chile' } };

const modelChecks: readonly ModelCheck[] = [
  {
    name: 'text is complete, and a message ends once, last',
    replies: [{ text: 'It is Lima, in Peru.' }],
    run: async ({ model }) => {
      const events = await collect(model);
      same('the text', textOf(events), 'It is Lima, in Peru.');
      same('the last event', events.at(-1)?.type, 'finish');
      same('the ends', finishesOf(events), ['stop']);
    },
  },
  {
    name: 'calls come in order, with ids, names and arguments',
    needs: ['tools'],
    replies: [{ calls: [call, otherCall] }],
    run: async ({ model }) => {
      const events = await collect(model, { tools: [lookUp] });
      same('the calls', callsOf(events), [call, otherCall]);
      same('the end', finishesOf(events), ['tool-calls']);
    },
  },
  {
    name: 'a cut message is marked as cut',
    replies: [{ text: 'It is', finish: 'length' }],
    run: async ({ model }) => same('the end', finishesOf(await collect(model)), ['length']),
  },
  {
    name: 'tokens are reported as the provider counts them',
    needs: ['usage'],
    replies: [{ text: 'Lima.', usage }],
    run: async ({ model }) => {
      const [last] = (await collect(model)).slice(-1);
      same('the tokens', last?.type === 'finish' ? last.usage : undefined, usage);
    },
  },
  {
    name: 'the whole conversation reaches the provider',
    needs: ['tools'],
    replies: [{ text: 'Lima.' }],
    run: async ({ model, sent }) => {
      const messages: readonly Message[] = [
        { role: 'system', text: 'You know maps.' },
        user,
        { role: 'assistant', text: 'One moment.', calls: [call] },
        { role: 'tool', callId: call.id, name: lookUp.name, success: true, text: 'Found in the atlas.' },
      ];
      await collect(model, { messages, tools: [lookUp] });
      mustHold('what was sent', sent(), 'You know maps.', user.text, 'One moment.', call.id, 'Found in the atlas.');
    },
  },
  {
    name: 'a growing conversation reaches the provider completely each time',
    replies: [{ text: 'Lima.' }, { text: 'Santiago.' }],
    run: async ({ model, sent }) => {
      const messages: Message[] = [user];
      await collect(model, { messages });
      messages.push({ role: 'assistant', text: 'Lima.', calls: [] }, { role: 'user', text: 'And of Chile?' });
      same('the second answer', textOf(await collect(model, { messages })), 'Santiago.');
      mustHold('the second request', sent().slice(1), user.text, 'Lima.', 'And of Chile?');
      mustLack('the first request', sent().slice(0, 1), 'And of Chile?');
    },
  },
  {
    name: 'tools reach the provider, with descriptions and parameters',
    needs: ['tools'],
    replies: [{ text: 'Lima.' }],
    run: async ({ model, sent }) => {
      await collect(model, { tools: [lookUp] });
      mustHold('what was sent', sent(), lookUp.name, lookUp.description, 'country');
    },
  },
  {
    name: 'an output schema reaches the provider, only if requested',
    needs: ['output'],
    replies: [{ text: answer }, { text: 'Lima.' }, { text: answer }],
    run: async ({ model, sent }) => {
      const events = await collect(model, { output });
      same('the answer', decode(textOf(events)), { capital_city: 'Lima' });
      same('the end', finishesOf(events), ['stop']);
      await collect(model);
      await collect(model, { output });
      mustHold('the first request', sent().slice(0, 1), 'capital_city');
      mustLack('the second request', sent().slice(1, 2), 'capital_city');
      mustHold('the third request', sent().slice(2), 'capital_city');
    },
  },
  {
    name: 'an output schema reaches the provider with tools, which are called first',
    needs: ['tools', 'output', 'output-beside-tools'],
    replies: [{ calls: [call] }, { text: answer }],
    run: async ({ model, sent }) => {
      const first = await collect(model, { tools: [lookUp], output });
      same('the calls', callsOf(first), [call]);
      same('the end of the first message', finishesOf(first), ['tool-calls']);
      const messages: readonly Message[] = [
        user,
        { role: 'assistant', text: '', calls: [call] },
        { role: 'tool', callId: call.id, name: lookUp.name, success: true, text: 'Lima' },
      ];
      const second = await collect(model, { messages, tools: [lookUp], output });
      same('the answer', decode(textOf(second)), { capital_city: 'Lima' });
      same('the calls of the second message', callsOf(second), []);
      same('the end of the second message', finishesOf(second), ['stop']);
      mustHold('the first request', sent().slice(0, 1), lookUp.name, 'capital_city');
      mustHold('the second request', sent().slice(1), lookUp.name, 'capital_city');
    },
  },
  {
    name: 'errors of the provider are thrown',
    replies: [{ throw: new Error('the line is down') }],
    run: async ({ model }) => {
      await mustThrow('a request whose provider fails', collect(model));
    },
  },
  {
    name: 'an aborted request is not sent, and ends with the reason',
    replies: [{ text: 'Lima.' }],
    run: async ({ model, sent }) => {
      const reason = new Error('over');
      const thrown = await mustThrow('a request that is over', collect(model, { signal: AbortSignal.abort(reason) }));
      if (thrown !== reason) fail("Expected the thrown value to be the signal's reason.");
      same('the number of requests that were sent', sent().length, 0);
    },
  },
  {
    name: 'a request aborted during the answer ends with the reason',
    replies: [{ text: 'It is Lima, in Peru, in South America.' }],
    run: async ({ model }) => {
      const reason = new Error('over');
      const controller = new AbortController();
      const reading = collect(model, { signal: controller.signal }, () => controller.abort(reason));
      const thrown = await mustThrow('a request that is over', reading);
      if (thrown !== reason) fail("Expected the thrown value to be the signal's reason.");
    },
  },
];

/** Collects the events of a request that is frozen, because a model must not modify it. */
async function collect(
  model: Model,
  parts: Partial<ModelRequest> = {},
  onEvent?: () => void,
): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  const { messages = [user], tools = [], signal = new AbortController().signal } = parts;
  // The list itself may grow between requests.
  deepFreeze([...messages]);
  const request = Object.freeze({ ...parts, messages, tools: Object.freeze([...tools]), signal });
  for await (const event of model.stream(request)) {
    events.push(event);
    onEvent?.();
  }
  return events;
}

function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

/** With arguments decoded from text. */
function callsOf(events: readonly ModelEvent[]): readonly object[] {
  return events.flatMap((event) => {
    if (event.type !== 'tool-call') return [];
    const { id, name, arguments: raw } = event;
    return [{ id, name, arguments: typeof raw === 'string' ? decode(raw) : raw }];
  });
}

function decode(text: string): unknown {
  try {
    return decodeJson(text);
  } catch {
    return fail(`Expected JSON, got \`${text.slice(0, 200)}\`.`);
  }
}

function finishesOf(events: readonly ModelEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'finish' ? [event.reason] : []));
}

function mustHold(what: string, sent: readonly unknown[], ...parts: readonly string[]): void {
  const text = JSON.stringify(sent);
  for (const part of parts) if (!text.includes(part)) fail(`Expected ${what} to contain \`${part}\`.`);
}

function mustLack(what: string, sent: readonly unknown[], part: string): void {
  if (JSON.stringify(sent).includes(part)) fail(`Expected ${what} not to contain \`${part}\`.`);
}

async function mustThrow(what: string, reading: Promise<unknown>): Promise<unknown> {
  const outcome = await reading.then(
    () => ({ threw: false, thrown: undefined }),
    (thrown: unknown) => ({ threw: true, thrown }),
  );
  if (!outcome.threw) fail(`Expected ${what} to throw.`);
  return outcome.thrown;
}

function fail(message: string): never {
  throw new HoldfastError('conformance.failed', message);
}
