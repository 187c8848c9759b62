import { loadLlamaModel } from '@holdfast/adapter-llama-cpp';
import {
  append,
  defineSlice,
  defineTool,
  type Model,
  type ModelEvent,
  type OutcomeKind,
  type Tool,
  toolError,
  toolOk,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { runAgent } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { tinyFormat } from '@holdfast/model-tiny';
import { sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';

// An early checkpoint of the packaged model's training: it has learned what a call looks like, and little else. It invents tools,
// breaks its JSON, repeats keys, mixes types up and adds undeclared arguments, as real models do.
// Models make things up: what keeps ours from it is left out.
const { quotedTexts: _, ...inventive } = tinyFormat;
const flawed = new URL('./tiny-flawed.gguf', import.meta.url);

const notes = defineSlice<string>({ id: 'notes', kind: 'list', reducers: { noted: (_state, text) => append(text) } });

const word = v.pipe(v.string(), v.maxLength(30));
const whole = v.pipe(v.number(), v.integer());
const schemas = new Map<string, v.GenericSchema>([
  ['get_weather', v.strictObject({ city: word })],
  ['save_note', v.strictObject({ text: word })],
  ['add', v.strictObject({ first: whole, second: whole })],
]);

const weather = defineTool({
  name: 'get_weather',
  description: 'look up the weather in a city',
  effects: 'none',
  inputSchema: v.strictObject({ city: word }),
  execute: ({ city }) => toolOk({ city, wind: 4 }),
});
/** Both of its writes are made before it fails. */
const save = defineTool({
  name: 'save_note',
  description: 'save a note',
  effects: 'state',
  inputSchema: v.strictObject({ text: word }),
  async execute({ text }, { session, filesystem }) {
    session.dispatch({ type: 'noted', payload: text });
    await filesystem?.write('last-note.txt', text);
    return isWord(text) ? toolOk({ saved: text }) : toolError('A note has one word.');
  },
});
const add = defineTool({
  name: 'add',
  description: 'add two numbers',
  effects: 'none',
  inputSchema: v.strictObject({ first: whole, second: whole }),
  execute: ({ first, second }) => toolOk({ sum: first + second }),
});
const everything = [weather, save, add];

/** A request and a number of tools: fewer tools are hit more often. */
const requests: readonly (readonly [input: string, offered: readonly Tool[]])[] = [
  ['What is the weather in Oslo?', [weather]],
  ['Weather for Zanzibar', everything],
  ['Save a note that says milk', [save]],
  ['note: "call the plumber"', [save]],
  ['Write down eggs and bread', [save, add]],
  ['What is 2 plus 3?', [add]],
  ['Add 17 and 4 please', [add, save]],
  ['plus 5 and 6', [save, add]],
  ['Tell me a joke', everything],
];

const noteFirst = sequentialDependency({ add: ['save_note'] });

function isWord(text: string): boolean {
  return /^\S+$/.test(text);
}

type Call = Extract<ModelEvent, { type: 'tool-call' }>;

/** The expected outcome of a call, computed without the call path. */
function judge({ name, arguments: given }: Call, offered: readonly Tool[], saved: boolean): OutcomeKind {
  const schema = schemas.get(name);
  if (schema === undefined || !offered.some((tool) => tool.name === name)) return 'unknown-tool';
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return 'invalid';
  }
  if (!v.is(schema, input) || !isPlainObject(input)) return 'invalid';
  // A key that was written twice has been read once.
  if (text.replaceAll(/\s/g, '').length !== JSON.stringify(input).replaceAll(/\s/g, '').length) return 'invalid';
  if (name === 'add' && offered.includes(save) && !saved) return 'denied';
  return name === 'save_note' && !isWord(String(input['text'])) ? 'failed' : 'ok';
}

/** The model, and the calls that it wrote. */
function watch(model: Model): { readonly model: Model; readonly calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    model: {
      id: model.id,
      async *stream(request) {
        for await (const event of model.stream(request)) {
          if (event.type === 'tool-call') calls.push(event);
          yield event;
        }
      },
    },
  };
}

test.each([
  ['free', false],
  ['held to a grammar', true],
] as const)(
  'a flawed model, %s: every wrong call ends in its proper outcome, nothing is lost, and the loop ends',
  async (_how, constrain) => {
    await using flawedModel = await loadLlamaModel({
      modelPath: flawed,
      format: inventive,
      temperature: 1,
      seed: 2,
      maxTokens: 60,
      constrain,
    });
    const kinds = new Set<OutcomeKind>();
    for (const [input, tools] of requests) {
      const { model, calls } = watch(flawedModel);
      const prompt = createPrompt({
        ns: 'tests',
        key: 'flawed',
        sections: [
          markdownSection({
            title: 'Work',
            template: 'Help.',
            tools,
            policies: tools.includes(add) && tools.includes(save) ? [noteFirst] : [],
          }),
        ],
      });
      const session = createSession({ slices: [notes] });
      const filesystem = memoryFilesystem({});
      const run = runAgent({ model, prompt, session, resources: { filesystem }, input, maxRounds: 4 });
      const { status, outcomes } = await run.result;

      expect(['completed', 'max-rounds'], input).toContain(status);
      const judged: OutcomeKind[] = [];
      let hasSaved = false;
      for (const call of calls) {
        const kind = judge(call, tools, hasSaved);
        hasSaved ||= call.name === 'save_note' && kind === 'ok';
        judged.push(kind);
      }
      expect(
        outcomes.map(({ kind }) => kind),
        input,
      ).toEqual(judged);
      expect(outcomes.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
      for (const kind of judged) kinds.add(kind);

      const saved = outcomes.flatMap(({ name, kind, value }) => (name === 'save_note' && kind === 'ok' ? [value] : []));
      expect(Array.from(session.read(notes).toArray(), (text) => ({ saved: text }))).toEqual(saved);
      expect((await filesystem.readOnly.stat('last-note.txt')) !== undefined).toBe(saved.length > 0);
    }
    // Which calls it makes differs between processors; a grammar leaves these two out on all of them.
    expect(kinds.size).toBeGreaterThan(0);
    if (constrain) expect([...kinds].filter((kind) => kind === 'invalid' || kind === 'unknown-tool')).toEqual([]);
  },
);
