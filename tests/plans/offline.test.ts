import { existsSync, readFileSync } from 'node:fs';
import { offlinePlanner } from '@holdfast/adapter-offline';
import {
  allow,
  definePolicy,
  defineTool,
  deny,
  isHoldfastError,
  type JsonObject,
  type Policy,
  type Tool,
} from '@holdfast/core';
import {
  type CompiledPlan,
  type CompileEvent,
  type CompilePlanOptions,
  compilePlan,
  runPlan,
} from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { offlineTools } from './test-offline.ts';

type Compiled = { readonly plan: CompiledPlan } | { readonly code: string; readonly reason: unknown };

async function compile(
  request: string,
  { tools = offlineTools, ...options }: Partial<CompilePlanOptions> = {},
): Promise<Compiled> {
  try {
    return { plan: await compilePlan({ request, tools, planner: offlinePlanner(), ...options }) };
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return {
      code: thrown.code,
      reason: (thrown.data as { readonly explanation?: string }).explanation ?? thrown.message,
    };
  }
}

function sketch(compiled: Compiled): readonly string[] {
  if (!('plan' in compiled)) return [`${compiled.code}: ${String(compiled.reason)}`];
  return compiled.plan.plan.nodes.map(
    ({ tool, inputs, depends_on }) => `${tool} ${JSON.stringify(inputs)} <-${depends_on.join(',')}`,
  );
}

describe('plans pass the validation that every plan passes, in one round', () => {
  test.each([
    [
      'Read a.txt and fetch https://example.org/b, summarize both',
      [
        'read_file {"path":"a.txt"} <-',
        'fetch_url {"url":"https://example.org/b"} <-',
        'summarize_text {"text":{"$from":0,"path":"text"}} <-0',
        'summarize_text {"text":{"$from":1,"path":"text"}} <-1',
      ],
    ],
    [
      'Read a.txt and read b.txt, then merge both and write the text to c.txt',
      [
        'read_file {"path":"a.txt"} <-',
        'read_file {"path":"b.txt"} <-',
        'merge_texts {"texts":[{"$from":0,"path":"text"},{"$from":1,"path":"text"}]} <-0,1',
        'write_file {"path":"c.txt","content":{"$from":2,"path":"text"}} <-2',
      ],
    ],
    [
      'Load the page titled "Tulips", shorten it and send it as a mail to ann@example.org with the subject "Tulips"',
      [
        'load_page {"title":"Tulips"} <-',
        'shorten {"text":"{{STEPS.0}}"} <-0',
        'send_mail {"to":"ann@example.org","subject":"Tulips","body":"{{STEPS.1}}"} <-1',
      ],
    ],
    ['Set a timer for 10 minutes', ['set_timer {"minutes":10} <-']],
  ])('%s', async (request, expected) => {
    const compiled = await compile(request);
    expect(sketch(compiled)).toEqual(expected);
    expect(compiled).toMatchObject({ plan: { rounds: 1, planner: 'offline:rules' } });
  });

  test('and they run: what is typed stays as it is, what is found goes where it was meant to', async () => {
    const compiled = await compile('Write "{{ a }} {STEPS.0}" to b.txt, then read a.txt and write it to c.txt');
    if (!('plan' in compiled)) throw new Error(String(compiled.reason));
    const trace = await runPlan(compiled.plan, { tools: offlineTools, session: createSession() });
    expect(trace.status).toBe('succeeded');
    expect(trace.nodes.map(({ input }) => input)).toEqual([
      { path: 'b.txt', content: '{{ a }} {STEPS.0}' },
      { path: 'a.txt' },
      { path: 'c.txt', content: 'Text of a.txt' },
    ]);
  });
});

describe('what a check refuses is given back', () => {
  test('two changes are in the order of the request from the beginning', async () => {
    const events: CompileEvent[] = [];
    const compiled = await compile(
      'Create an event with the title "A" on 2026-01-01 and create an event with the title "B" on 2026-01-02',
      { onEvent: (event) => events.push(event) },
    );
    expect(events.filter(({ type }) => type === 'planner-answered')).toHaveLength(1);
    expect(sketch(compiled)).toEqual([
      'create_event {"title":"A","date":"2026-01-01"} <-',
      'create_event {"title":"B","date":"2026-01-02"} <-0',
    ]);
  });

  test('what a policy surely denies is not done with another tool', async () => {
    const policy: Policy = definePolicy({
      name: 'no-fetch-url',
      check: (call) => (call.tool.name === 'fetch_url' ? deny('Not here.') : allow),
    });
    const options = { policies: [policy], session: createSession() };
    const [line] = sketch(await compile('Fetch the page https://example.org/a', options));
    expect(line).toMatch(/^plan\.declined: I have no alternative to the rejected plan.*Not here\./s);
  });

  test.each([
    ['Set a timer for 90 minutes', /plan\.input\.type at nodes\[0\]\.inputs\.minutes/],
    [`Create an event called "${'x'.repeat(50)}" on 2026-01-01`, /plan\.input\.type at nodes\[0\]\.inputs\.title/],
  ])('%s', async (request, why) => {
    const compiled = await compile(request);
    expect(compiled).toMatchObject({ code: 'plan.declined' });
    expect(sketch(compiled)[0]).toMatch(why);
  });
});

test.each([
  'Translate a.txt into Spanish',
  'Send a mail to bob with the subject "Hi" and the body "Hello"',
  'Create an event called "A" tomorrow',
  'Calculate the meaning of life',
  'Read a.txt if it is there',
  'Read each file of docs',
  'Read a.txt and b.txt',
  'Count the words of a.txt',
  'Search the web for "tulips", fetch the first result and summarize it',
  'Summarize the results',
  'Convert 10 from USD to yen',
  'Bake a cake',
])('declined at once: %s', async (request) => {
  const compiled = await compile(request);
  expect(compiled, sketch(compiled).join('\n')).toMatchObject({ code: 'plan.declined' });
  expect(String('reason' in compiled ? compiled.reason : '')).not.toContain('no other plan');
});

const types: readonly (readonly [schema: JsonObject, said: string])[] = [
  [{ type: 'string' }, '"some words"'],
  [{ type: 'string', maxLength: 8 }, '"far too many words"'],
  [{ type: 'string', pattern: '^[a-z]+\\.txt$' }, 'a.txt'],
  [{ type: 'integer' }, '3'],
  [{ type: 'integer', minimum: 1, maximum: 5 }, '7'],
  [{ type: 'number' }, '2.5'],
  [{ type: 'boolean' }, 'on'],
  [{ enum: ['fast', 'slow'] }, 'fast'],
  [{ type: 'array', items: { type: 'string' } }, '"one" and "two"'],
  [{ type: 'array', items: { type: 'number' }, minItems: 2 }, '1 and 2'],
  [{ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, '"x"'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '"a"'],
];
const names = 'path text content url query title words count result first second items body id amount to'.split(' ');
const anyObject = fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...types), { maxKeys: 3 }).chain((members) =>
  fc.subarray(Object.keys(members)).map((required) => {
    const properties = Object.fromEntries(Object.entries(members).map(([name, [schema]]) => [name, schema]));
    const schema: JsonObject = { type: 'object', properties, required, additionalProperties: false };
    return { schema, said: Object.entries(members).map(([name, [, said]]) => `the ${name} ${said}`) };
  }),
);
const verbs = 'read fetch count compare write merge summarize send create convert list'.split(' ');
const things = 'file text page words report mail event number'.split(' ');
/** A tool, and a clause that asks for it: with what it takes, or with words for what came before. */
const anyTool = fc
  .record({
    verb: fc.constantFrom(...verbs),
    thing: fc.constantFrom(...things),
    takes: anyObject,
    gives: fc.option(anyObject),
    says: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    link: fc.constantFrom('', ' of it', ' of both', ' of the result', ' of them', ' of the text', ' to c.txt'),
  })
  .map(({ verb, thing, takes, gives, says, link }) => {
    const said = takes.said.filter((_, index) => says[index]);
    const tool: Tool = defineTool({
      name: `${verb}_${thing}`,
      description: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} a ${thing}.`,
      effects: 'none',
      inputSchema: jsonSchema(takes.schema),
      ...(gives === null ? {} : { outputSchema: jsonSchema(gives.schema) }),
      execute: () => ({}) as never,
    });
    return { tool, clause: `${verb} the ${thing}${link}${said.length === 0 ? '' : ` with ${said.join(' and ')}`}` };
  });

test('whatever the tools take and give: what it plans for them is valid, or is declined with what is wrong', async () => {
  let planned = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(anyTool, { minLength: 1, maxLength: 3, selector: ({ tool }) => tool.name }),
      fc.constantFrom(', then ', ' and ', '. '),
      async (some, link) => {
        const tools = some.map(({ tool }) => tool);
        const request = some.map(({ clause }) => clause).join(link);
        const compiled = await compile(request, { tools, maxRounds: 10 });
        if ('plan' in compiled) planned += 1;
        else expect(compiled.code, JSON.stringify(compiled)).toBe('plan.declined');
      },
    ),
    { numRuns: 500 },
  );
  // So that it is about plans.
  expect(planned).toBeGreaterThan(10);
});

/** A registry as another project writes it. */
function toTools(registry: string): readonly Tool[] {
  const { tools } = JSON.parse(registry) as {
    readonly tools: readonly {
      readonly name: string;
      readonly description: string;
      readonly parameters: JsonObject;
      readonly dangerous: boolean;
    }[];
  };
  return tools.map(({ name, description, parameters, dangerous }) =>
    defineTool({
      name,
      description: description.replaceAll(/[^ -~]/gu, '-').slice(0, 200),
      effects: dangerous ? 'external' : 'none',
      dangerous,
      inputSchema: jsonSchema(parameters),
      execute: () => ({}) as never,
    }),
  );
}

const overRegistry: readonly (readonly [request: string, expected: readonly string[]])[] = [
  ['Get the weather in Berlin', ['weather_fetcher {"city":"Berlin"} <-']],
  ['Get the stock price of AMD', ['finance_fetcher {"operation":"price","symbol":"AMD"} <-']],
  [
    'Search the web for "AMD AI chips" and search the web for "Intel AI chips"',
    ['google_search {"query":"AMD AI chips"} <-', 'google_search {"query":"Intel AI chips"} <-'],
  ],
];
const ownRegistry = JSON.stringify({
  tools: [
    ['weather_fetcher', 'Get the current weather of any city.', { city: { type: 'string' } }, ['city']],
    [
      'finance_fetcher',
      "Get stock data. Use operation='price' for current value.",
      { operation: { type: 'string', enum: ['price', 'history'] }, symbol: { type: 'string' } },
      ['symbol'],
    ],
    [
      'google_search',
      'Search the web for facts.',
      { query: { type: 'string' }, num_results: { type: 'integer' } },
      ['query'],
    ],
    ['llm_caller', 'Ask a language model to summarize text.', { prompt: { type: 'string' } }, ['prompt']],
  ].map(([name, description, properties, required]) => ({
    name,
    description,
    parameters: { type: 'object', properties, required },
    dangerous: false,
  })),
});

test.each(overRegistry)('over a registry in the form of another project: %s', async (request, expected) => {
  expect(sketch(await compile(request, { tools: toTools(ownRegistry) }))).toEqual(expected);
});

const registryFile = new URL('../../../shared/data/plans/registry.json', import.meta.url);

test.skipIf(!existsSync(registryFile)).each(overRegistry)(
  'over the registry of project-smith (skipped where it is missing): %s',
  async (request, expected) => {
    expect(sketch(await compile(request, { tools: toTools(readFileSync(registryFile, 'utf8')) }))).toEqual(expected);
  },
);
