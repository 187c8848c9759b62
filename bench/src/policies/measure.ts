import { definePolicy, type Policy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { allowTools, callBudget } from '@holdfast/policy';
import { argumentsText, callBare, forecasting, readingForecast, toolName } from '../call-path/forecast.ts';
import { compare, type Extent, everything, limitRounds, type Row, type Subject } from '../compare.ts';
import type { FigureReport, Report } from '../report.ts';
import { packSubjects } from './packs.ts';

const counts = [1, 2, 5, 10, 20, 50];
const operations = 100;
const none = 'no policy';

/** Measures a call with 1 to 50 policies and with each pack, and the cost of one check. */
export async function measurePolicies(extent: Extent = everything): Promise<readonly Report[]> {
  const sizes = counts.filter((count) => count <= extent.largest);
  const kinds = [
    { name: 'stateless', create: createStateless },
    { name: 'stateful', create: createStateful },
    { name: 'asynchronous', create: createAsynchronous },
  ];
  const subjects = [
    floor(none, 0),
    calls(none, () => []),
    ...sizes.flatMap((count) => [
      floor(`${count}`, count),
      ...kinds.map(({ name, create }) => calls(`${count} ${name}`, () => createMany(count, create), `floor ${count}`)),
    ]),
  ];
  const rows = await compare(subjects, limitRounds({ rounds: 60, warmUpRounds: 20 }, extent));
  const packRows = await compare(await packSubjects(operations), limitRounds({ rounds: 60, warmUpRounds: 20 }, extent));
  return [
    {
      name: 'policies: calls with 1 to 50 policies in force',
      notes: [
        'floor N: parse, validate, call, and N plain functions that are asked before. The others are governed calls that only read.',
        'stateless: `allowTools`. stateful: `callBudget`, which also learns from every success. asynchronous: `check` is `async`.',
      ],
      rows,
    },
    toFigures(
      rows,
      sizes,
      kinds.map(({ name }) => name),
    ),
    {
      name: 'policies: calls with a pack in force',
      notes: [
        'The preset `recommended` of each pack, and a typical call that it lets through; bare is the same call with no policy.',
        'provenance: a mail to two recipients, after ten results of 2 kB each.',
      ],
      rows: packRows,
    },
  ];
}

/** The cost that each policy adds to a call, by the medians. */
function toFigures(rows: readonly Row[], sizes: readonly number[], kinds: readonly string[]): FigureReport {
  const medianOf = (name: string): number => {
    const row = rows.find((one) => one.name === name);
    if (row === undefined) throw new Error(`unknown row \`${name}\``);
    return row.nsPerOperation.median;
  };
  const figures = kinds.flatMap((kind) =>
    sizes.map((count) => ({
      name: `${kind}, ${count} in force`,
      value: Math.round((medianOf(`${count} ${kind}`) - medianOf(none)) / count),
      unit: 'ns',
    })),
  );
  return { name: 'policies: what one of them adds to a call', figures };
}

function createMany(count: number, create: (id: string) => Policy): readonly Policy[] {
  return Array.from({ length: count }, (_, index) => create(`policy-${index}`));
}

function createStateless(id: string): Policy {
  return allowTools([toolName], { id });
}

function createStateful(id: string): Policy {
  return callBudget({ maxCalls: Number.MAX_SAFE_INTEGER, id });
}

function createAsynchronous(id: string): Policy {
  const { check } = createStateless(id);
  return definePolicy({
    name: 'later',
    id,
    check: async (call, context) => check(call, { ...context, state: undefined }),
  });
}

function floor(name: string, count: number): Subject {
  return {
    name: `floor ${name}`,
    operations,
    prepare() {
      let asked = 0;
      const guards = Array.from({ length: count }, () => (tool: string) => {
        asked += 1;
        return tool !== 'deploy';
      });
      return async () => {
        for (let time = 0; time < operations; time += 1) {
          if (!guards.every((guard) => guard(toolName))) throw new Error('a guard refused');
          await callBare();
        }
        if (asked !== count * operations) throw new Error(`${asked} guards were asked`);
      };
    },
  };
}

/** Calls that every policy allows. */
function calls(name: string, createPolicies: () => readonly Policy[], floorName?: string): Subject {
  return {
    name,
    operations,
    against: [...(name === none ? [] : [{ name: none }]), { name: floorName ?? `floor ${none}` }],
    prepare() {
      const options = { tools: [readingForecast], session: forecasting.createSession(), policies: createPolicies() };
      return async () => {
        for (let time = 0; time < operations; time += 1) {
          const call = { id: `call-${time}`, name: toolName, arguments: argumentsText };
          const { kind } = await executeToolCall(call, options);
          if (kind !== 'ok') throw new Error(`the call ended as \`${kind}\``);
        }
      };
    },
  };
}
