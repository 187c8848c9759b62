import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject, ToolDeclaration } from '@holdfast/core';
import { expect, test } from 'vitest';
import { type Call, play } from './fixtures.ts';

/** A case of the tiny model's evaluation: offered tools, a request, and the expected calls with their results. */
interface Case {
  readonly id: number;
  readonly request: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[];
  readonly steps: readonly {
    readonly call?: { readonly name: string; readonly arguments: JsonObject };
    readonly result?: JsonObject;
  }[];
}

interface Figures {
  readonly cases: number;
  /** First calls of the right tool. */
  readonly rightTool: number;
  /** All calls of the case as expected. */
  readonly exact: number;
  readonly unfit: number;
  /** Cases without a fitting tool in which nothing was called. */
  readonly refused: number;
}

async function measure(cases: readonly Case[]): Promise<Figures> {
  let [rightTool, exact, unfit, refused] = [0, 0, 0, 0];
  for (const { request, tools, steps } of cases) {
    const offered: readonly ToolDeclaration[] = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: parameters,
    }));
    const expected: readonly Call[] = steps.flatMap(({ call }) =>
      call === undefined ? [] : [[call.name, call.arguments] as const],
    );
    const results = steps.flatMap(({ result }) => (result === undefined ? [] : [JSON.stringify(result)]));
    const { calls } = await play(request, offered, (_call, made) => ({
      success: true,
      text: results[made] ?? '{"ok":true}',
    }));
    if (expected.length === 0) {
      unfit += 1;
      if (calls.length === 0) refused += 1;
      continue;
    }
    if (calls[0]?.[0] === expected[0]?.[0]) rightTool += 1;
    if (canonical(calls) === canonical(expected)) exact += 1;
  }
  return { cases: cases.length, rightTool, exact, unfit, refused };
}

function canonical(calls: readonly Call[]): string {
  return JSON.stringify(
    calls.map(([name, given]) => [name, Object.entries(given).sort(([left], [right]) => (left < right ? -1 : 1))]),
  );
}

function readCases(file: URL): readonly Case[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
}

const folder = new URL('../../../../shared/tiny-model/', import.meta.url);

// Floors just under what was measured: right tool 127 of 127, 128 of 135 and 25 of 29; all calls exact 124, 119 and 24.
test.skipIf(!existsSync(folder))('figures on requests that others wrote (skipped where they are missing)', async () => {
  const cases = readCases(new URL('eval.jsonl', folder));
  const figures = {
    seen: await measure(cases.filter(({ id }) => id <= 150)),
    heldOut: await measure(cases.filter(({ id }) => id > 150)),
    byHand: await measure(readCases(new URL('handmade.jsonl', folder))),
  };
  expect(figures.seen.exact).toBeGreaterThanOrEqual(122);
  expect(figures.heldOut.rightTool).toBeGreaterThanOrEqual(126);
  expect(figures.heldOut.exact).toBeGreaterThanOrEqual(117);
  expect(figures.heldOut.refused).toBe(figures.heldOut.unfit);
  expect(figures.byHand.rightTool).toBeGreaterThanOrEqual(24);
  expect(figures.byHand.refused).toBe(figures.byHand.unfit);
});

test('invented tools: nothing but the words of name, description and schema can help', async () => {
  const tools = [
    {
      name: 'verco_estimate',
      description: 'use it to guess a verco',
      parameters: schema({ site: { type: 'string' } }),
    },
    {
      name: 'estimateAnchor',
      description: 'use it to estimate an anchor',
      parameters: schema({ place: { type: 'string' }, age: { type: 'integer' } }),
    },
    {
      name: 'pay_konilwa',
      description: 'settle one konilwa',
      parameters: schema({ site: { type: 'string' }, year: { type: 'integer' } }),
    },
  ];
  const call = (name: string, given: JsonObject): Case['steps'][number] => ({ call: { name, arguments: given } });
  const cases: readonly Case[] = [
    {
      id: 1,
      request: 'Guess the verco at https://siso.org',
      tools,
      steps: [call('verco_estimate', { site: 'https://siso.org' })],
    },
    {
      id: 2,
      request: 'please estimate our anchor with 31 as the age, place: Porto',
      tools,
      steps: [call('estimateAnchor', { place: 'Porto', age: 31 })],
    },
    {
      id: 3,
      request: 'Guess the verco of https://a.org and settle my konilwa in year 1954 with the site from it',
      tools,
      steps: [
        call('verco_estimate', { site: 'https://a.org' }),
        { result: { site: 'https://b.org' } },
        call('pay_konilwa', { site: 'https://b.org', year: 1954 }),
      ],
    },
    { id: 4, request: 'Encrypt the konilwa of 1999', tools, steps: [] },
    { id: 5, request: 'Guess the pillow at Porto', tools, steps: [] },
  ];
  expect(await measure(cases)).toEqual({ cases: 5, rightTool: 3, exact: 3, unfit: 2, refused: 2 });
});

function schema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
