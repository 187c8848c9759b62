import { existsSync, readFileSync } from 'node:fs';
import { type LlamaModel, loadLlamaModel } from '@holdfast/adapter-llama-cpp';
import { defineTool, type Model, type Tool } from '@holdfast/core';
import type { ConversationFormat } from '@holdfast/core/types';
import { runAgent } from '@holdfast/executor';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, inject, test } from 'vitest';

const tool = (name: string, description: string, entries: v.ObjectEntries, result: object): Tool =>
  defineTool({
    name,
    description,
    inputSchema: v.strictObject(entries),
    effects: 'none',
    execute: () => result,
  });

const text = v.pipe(v.string(), v.maxLength(40));

function run(model: Model, tools: readonly Tool[], input: string) {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'local',
    sections: [markdownSection({ title: 'Home', template: 'Help.', tools: [...tools] })],
  });
  return runAgent({ model, prompt, session: createSession(), input, maxRounds: 4 }).result;
}

test('the packaged model calls a governed tool, and says what came of it', async () => {
  await using model = await loadLlamaModel({ modelPath: tinyModelUrl, format: tinyFormat });
  const weather = tool('get_weather', 'look up the weather', { city: text }, { wind: 'k327' });
  const { status, outcomes, text: said } = await run(model, [weather], 'I need the weather for Zanzibar');
  expect({ status, outcomes }).toMatchObject({
    status: 'completed',
    outcomes: [{ kind: 'ok', name: 'get_weather', value: { wind: 'k327' } }],
  });
  expect(said).toContain('k327');
});

// Weights trained next to the repository, relative to the usual place of a checkout.
const folder = new URL('../../../shared/tiny-model/', import.meta.url);
const isThere = existsSync(folder);

/** The flawed model has read the names of tools and of their parameters before the request, and nothing else of them. */
const namesOnly: ConversationFormat = {
  ...tinyFormat,
  toPrompt: (messages, tools) => {
    const parts = tinyFormat.toPrompt(messages, []);
    const at = parts.findIndex((part) => typeof part !== 'string' && part.special === '<|hf_tools|>');
    return [
      { special: '<s>' },
      { special: '<|hf_tools|>' },
      tools.map((one) => `${one.name}(${Object.keys(one.inputSchema['properties'] ?? {}).join()})`).join(' '),
      ...parts.slice(1, at),
      // Behind the tools line, which is empty, and the request that stands there once more.
      ...parts.slice(at + 4),
    ];
  },
};

const eight = [
  tool('get_weather', 'Looks up the weather.', { city: text }, { temp: 7 }),
  tool('read_file', 'Reads a file.', { path: text }, { text: 'hello' }),
  tool('add', 'Adds two numbers.', { a: v.number(), b: v.number() }, { sum: 5 }),
];
const requests = [
  ['Open notes.txt', 'Read the file a.md', 'What is 2 plus 3?', 'Add 17 and 4', 'Weather for Lima please'],
  ['How warm is it in Zanzibar?', 'Delete everything', 'Who is Ana?', 'Sum of 99 and 1234?', 'Tell me a joke'],
].flat();

test.skipIf(!isThere).each([true, false])(
  'a flawed model, with its calls held to a grammar: %s (skipped where it is missing)',
  async (constrain) => {
    const path = new URL('tiny-tools-flawed.gguf', folder);
    await using model: LlamaModel = await loadLlamaModel({
      modelPath: path,
      format: namesOnly,
      contextSize: 400,
      maxTokens: 80,
      constrain,
    });
    const kinds = new Set<string>();
    for (const input of requests) {
      const { status, outcomes } = await run(model, eight, input);
      expect(['completed', 'max-rounds'], input).toContain(status);
      for (const { kind, name } of outcomes) {
        kinds.add(kind);
        if (constrain) expect([kind, eight.some((one) => one.name === name)]).toEqual(['ok', true]);
      }
    }
    // Without a grammar it is wrong in its own ways, and each has its outcome.
    if (!constrain) expect([...kinds].filter((kind) => kind !== 'ok')).not.toEqual([]);
  },
);

interface Case {
  readonly line: string;
  readonly request: string;
  readonly tools: readonly { readonly name: string; readonly parameters: object }[];
  readonly steps: readonly { readonly call?: { readonly name: string; readonly arguments: object } }[];
}

test.skipIf(!isThere)(
  'the packaged model reads tools as it was trained to (skipped where the cases are missing)',
  async () => {
    const cases = readFileSync(new URL('eval.jsonl', folder), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Case);
    await using model = await loadLlamaModel({ modelPath: tinyModelUrl, format: tinyFormat, contextSize: 640 });
    let right = 0;
    const some = cases.filter(({ steps }) => steps[0]?.call !== undefined).slice(0, inject('long') > 0 ? 200 : 10);
    for (const { line, request, tools, steps } of some) {
      // The line says a description, which the schemas have not.
      const descriptions = line.split('; ').map((one) => one.slice(one.indexOf(')') + 2));
      const offered = tools.map(({ name, parameters }, index) => ({
        name,
        description: descriptions[index] ?? '',
        inputSchema: parameters as Record<string, never>,
      }));
      const unasked = line.replaceAll(/(?<=^|; )/g, '0 ');
      expect(tinyFormat.toPrompt([], offered).at(-1)).toBe(unasked);
      const signal = new AbortController().signal;
      for await (const event of model.stream({ messages: [{ role: 'user', text: request }], tools: offered, signal })) {
        if (event.type === 'tool-call' && event.name === steps[0]?.call?.name) right += 1;
      }
    }
    expect(right).toBeGreaterThan(some.length / 2);
  },
);
