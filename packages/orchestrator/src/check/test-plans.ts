import { defineTool, type JsonObject, type Tool } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { type CheckPlanOptions, checkPlan, type PlanCheck, type PlanViolation } from '../index.ts';

const any = { type: 'object', properties: { x: {}, y: {} } };

interface TestTool {
  readonly input?: JsonObject;
  readonly output?: JsonObject;
  readonly effects?: Tool['effects'];
  readonly locks?: (input: unknown) => readonly string[];
}

export function testTool(name: string, { input, output, effects = 'none', locks }: TestTool = {}): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effects,
    ...(input === undefined ? {} : { inputSchema: jsonSchema(input) }),
    ...(output === undefined ? {} : { outputSchema: jsonSchema(output) }),
    ...(locks === undefined ? {} : { locks }),
    execute: () => null,
  });
}

const names = (input: unknown): readonly string[] => {
  const { name } = input as { readonly name: string };
  if (name === 'throw') throw new Error('no locks');
  return [name];
};
const named: JsonObject = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

/** The tools of the cases (`a` to `d`, `q`, `p`, `llm_caller`) and some with more to check. */
export const testTools: readonly Tool[] = [
  ...['a', 'b', 'c', 'd'].map((name) => testTool(name, { input: any })),
  testTool('q', {
    input: {
      type: 'object',
      properties: {
        q: { type: 'string', minLength: 1 },
        n: { type: 'integer', minimum: 1, maximum: 20 },
        mode: { enum: ['fast', 'deep'] },
      },
      required: ['q'],
    },
  }),
  testTool('p'),
  testTool('counted', {
    input: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: {} },
      required: ['a'],
      minProperties: 1,
      maxProperties: 1,
    },
  }),
  testTool('llm_caller', {
    input: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  }),
  testTool('shape', {
    input: {
      type: 'object',
      properties: {
        box: {
          type: 'object',
          properties: { width: { type: 'number' }, height: { type: 'number', default: 1 } },
          required: ['width', 'height'],
        },
        sizes: { type: 'array', items: { type: 'integer' }, minItems: 2, uniqueItems: true },
        either: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
        map: { type: 'object', additionalProperties: { type: 'number' } },
        patterns: { type: 'object', patternProperties: { '^n': { type: 'number' } } },
        shared: { $ref: '#/$defs/shared' },
      },
      $defs: { shared: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] } },
    },
  }),
  testTool('typed', {
    output: {
      type: 'object',
      properties: {
        count: { type: 'integer' },
        text: { type: 'string' },
        items: { type: 'array', items: { type: 'object', properties: { t: { type: 'string' } } }, maxItems: 5 },
        open: { type: 'object', additionalProperties: true },
        maybe: { type: ['string', 'null'] },
        nullable: { type: ['object', 'null'], properties: { a: { type: 'string' } } },
        mixed: { type: ['object', 'array'], properties: { a: {} }, items: { type: 'string' } },
      },
    },
  }),
  testTool('write', { input: named, effects: 'external', locks: names }),
  testTool('garbled', { input: named, effects: 'external', locks: () => JSON.parse('[1]') }),
  testTool('read', { input: named, effects: 'none', locks: names }),
  defineTool({ name: 'declared', description: 'Has no implementation.' }),
];

const testFunctions: ReadonlyMap<string, string> = new Map([['a', 'run_a']]);

export function check(source: unknown, options: Partial<CheckPlanOptions> = {}): Promise<PlanCheck> {
  return checkPlan(source, { tools: testTools, functions: testFunctions, ...options });
}

/** A plan whose final node is the last one. */
export function planOf(...nodes: readonly JsonObject[]): JsonObject {
  return { status: 'success', nodes, final_output_node: nodes.at(-1)?.['id'] ?? 0 };
}

/** `code path` of each violation, in order. */
export function brief(found: readonly PlanViolation[]): readonly string[] {
  return found.map(({ path, ...kind }) => (path === '' ? describeCode(kind) : `${describeCode(kind)} ${path}`));
}

/** The violations of a plan; none for a valid or declined plan. */
export async function violationsOf(source: unknown, options?: Partial<CheckPlanOptions>): Promise<readonly string[]> {
  const found = await check(source, options);
  return found.type === 'invalid' ? brief(found.violations) : [];
}

/** The digest of a plan; throws if it is not valid. */
export async function digestOf(source: unknown, options?: Partial<CheckPlanOptions>): Promise<string> {
  const found = await check(source, options);
  if (found.type !== 'valid') throw new Error(`The plan is ${found.type}: ${JSON.stringify(found)}`);
  return found.checked.digest;
}
