import { isDeepStrictEqual } from 'node:util';
import { defineTool, type Json, type Outcome, type Schema, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogEntry, type Session } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect } from 'vitest';
import { seed as testSeed } from '../setup/seed.ts';
import { kindOf } from './call-fixtures.ts';
import { arbitraryHostileText, arbitraryHostileValue } from './hostile-values.ts';
import {
  arbitraryBreak,
  arbitraryShape,
  arbitraryValue,
  breakValue,
  hasShape,
  type ObjectShape,
  toJsonSchema,
  toValibot,
} from './random-shapes.ts';
import { parseStrictly } from './strict-json.ts';

/** Makes calls of one tool at a time and knows what its handler was given. */
export class HostileCalls {
  readonly session: Session;
  readonly kinds: Map<string, number> = new Map();
  readonly #prototypes = prototypesAsTheyAre();
  #ends: LogEntry[] = [];
  #inputs: unknown[] = [];
  #calls = 0;

  constructor() {
    const store = {
      append: (entry: LogEntry) => void (entry.type === 'tool-call-end' && this.#ends.push(entry)),
      close: () => undefined,
    };
    this.session = createSession({ id: 'hostile', store });
  }

  /** A tool that keeps what it is given. */
  makeTool(inputSchema: Schema | undefined): Tool {
    return defineTool<unknown, unknown>({
      name: 'take',
      description: 'Takes what it is given.',
      effects: 'none',
      ...(inputSchema === undefined ? {} : { inputSchema }),
      execute: (input) => this.#inputs.push(input),
    });
  }

  /** One call, with all that holds for every call whatever its arguments are. Answers the handler's input, if it had any. */
  async make(raw: unknown, tools: readonly Tool[]): Promise<{ readonly outcome: Outcome; readonly input: unknown }> {
    this.#ends = [];
    this.#inputs = [];
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const outcome = await executeToolCall({ id, name: 'take', arguments: raw }, { tools, session: this.session });
    if (outcome.kind === 'suspended') throw new Error('nobody asked for approval');
    const { kind, text } = outcome;
    const ended = kindOf(outcome) ?? kind;
    this.kinds.set(ended, (this.kinds.get(ended) ?? 0) + 1);
    if (
      !['ok', 'invalid'].includes(kind) ||
      this.#ends.length !== 1 ||
      this.#inputs.length !== (kind === 'ok' ? 1 : 0)
    ) {
      expect.fail(`${ended}: ${this.#ends.length} ends, the handler ran ${this.#inputs.length} times`);
    }
    // A model's text is bounded and has nothing that a terminal would obey.
    if (text.length > 1_024 || /(?![\n\t])[\p{Cc}\p{Cf}]/u.test(text))
      expect.fail(`unfit for a model: ${JSON.stringify(text)}`);
    const [end] = this.#ends;
    const [input] = this.#inputs;
    if (kind === 'ok') {
      if (!isFrozenJson(input)) expect.fail('the handler was given something other than frozen JSON');
      if (!isDeepStrictEqual(end?.['input'], input))
        expect.fail('the event tells of another input than the handler had');
    }
    return { outcome, input };
  }

  /** Fails when anything about the language has changed, or something was left where every object would find it. */
  checkPrototypes(): void {
    if ('polluted' in {}) expect.fail('every object is polluted');
    const changed = prototypesAsTheyAre().filter((now, index) => !isDeepStrictEqual(now, this.#prototypes[index]));
    if (changed.length > 0) expect.fail(`changed: ${changed.map(({ name }) => name).join(', ')}`);
  }
}

function prototypesAsTheyAre(): readonly { readonly name: string; readonly contents: unknown }[] {
  return [Object, Array, Function, String, Number, Promise, Map, Set, Error, RegExp].map(({ name, prototype }) => ({
    name,
    contents: [
      Object.getPrototypeOf(prototype),
      Reflect.ownKeys(prototype as object).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)]),
    ],
  }));
}

function isFrozenJson(value: unknown): value is Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object': {
      if (value === null) return true;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (!Object.isFrozen(value) || Reflect.ownKeys(value).some((key) => typeof key === 'symbol')) return false;
      if (prototype !== (Array.isArray(value) ? Array.prototype : Object.prototype)) return false;
      return !Object.hasOwn(value, '__proto__') && Object.values(value).every(isFrozenJson);
    }
    default:
      return false;
  }
}

function hasWholeNames(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && hasWholeNames(inner));
}

export interface HostileOptions {
  readonly numRuns: number;
  /** The facts of a failure, to repeat it. Default: those of all tests. */
  readonly seed?: number;
  readonly path?: string;
}

/** Text, against a parser of our own: what it accepts is taken as it stands, and nothing else is. */
export async function checkHostileText(calls: HostileCalls, options: HostileOptions): Promise<void> {
  const open = [calls.makeTool(jsonSchema({ type: 'object', additionalProperties: true }))];
  const closed = [calls.makeTool(v.object({ q: v.string(), n: v.optional(v.number()) }))];
  const bare = [calls.makeTool(undefined)];
  await fc.assert(
    fc.asyncProperty(arbitraryHostileText, async (text) => {
      const parsed = parseStrictly(text);
      const taken = await calls.make(text, open);
      // Names that cannot be written as a path may be refused.
      const refusable = taken.input === undefined && !hasWholeNames(parsed);
      if (!refusable && !isDeepStrictEqual(taken.input, parsed)) {
        expect.fail(`taken: ${taken.outcome.code ?? 'ok'}, by rights: ${JSON.stringify(parsed)}`);
      }
      const { q, n, ...more } = (parsed ?? {}) as { q?: unknown; n?: unknown };
      const fits =
        parsed !== undefined &&
        typeof q === 'string' &&
        (n === undefined || typeof n === 'number') &&
        Object.keys(more).length === 0;
      expect((await calls.make(text, closed)).outcome.kind).toBe(fits ? 'ok' : 'invalid');
      const empty = parsed !== undefined && Object.keys(parsed).length === 0;
      expect((await calls.make(text, bare)).outcome.kind).toBe(empty ? 'ok' : 'invalid');
    }),
    options,
  );
  calls.checkPrototypes();
}

/** Decoded values of every kind: `make` checks that what is taken is frozen JSON, whatever it came from. */
export async function checkHostileValues(calls: HostileCalls, options: HostileOptions): Promise<void> {
  const open = [calls.makeTool(v.looseObject({}))];
  const closed = [calls.makeTool(v.object({ q: v.string() }))];
  await fc.assert(
    fc.asyncProperty(arbitraryHostileValue, async (make) => {
      await calls.make(make(), open);
      const { input } = await calls.make(make(), closed);
      if (input !== undefined) expect(Object.entries(input as object)).toEqual([['q', expect.any(String)]]);
    }),
    options,
  );
  calls.checkPrototypes();
}

interface Compiled {
  readonly shape: ObjectShape;
  readonly tools: readonly (readonly Tool[])[];
}

/** Valid input of random schemas with one thing broken: taken exactly when it has the shape all the same. */
export async function checkBrokenInput(
  calls: HostileCalls,
  { numRuns, seed = testSeed, ...rest }: HostileOptions,
): Promise<void> {
  const compiled = fc.sample(arbitraryShape, { numRuns: Math.ceil(numRuns / 40), seed }).map(
    (shape): Compiled => ({
      shape,
      // Every object shape becomes an object schema.
      tools: [toValibot(shape) as Schema, toJsonSchema(shape)].map((schema) => [calls.makeTool(schema)]),
    }),
  );
  const input = fc.nat({ max: compiled.length - 1 }).chain((which) =>
    fc.record({
      which: fc.constant(which),
      schema: fc.nat({ max: 1 }),
      value: arbitraryValue((compiled[which] as Compiled).shape),
      broken: fc.option(arbitraryBreak),
      asText: fc.boolean(),
    }),
  );
  await fc.assert(
    fc.asyncProperty(input, async ({ which, schema, value, broken, asText }) => {
      const { shape, tools } = compiled[which] as Compiled;
      const changed = broken === null ? value : breakValue(value, broken);
      const text = JSON.stringify(changed);
      // A string is text in any case. Through text, -0 becomes 0.
      const decoded = !asText && typeof changed !== 'string';
      const { outcome, input: taken } = await calls.make(decoded ? changed : text, tools[schema] ?? []);
      const meant: unknown = decoded ? changed : JSON.parse(text);
      const fits = hasShape(shape, meant) && !JSON.stringify(meant).includes('"__proto__":');
      if (outcome.kind !== (fits ? 'ok' : 'invalid')) {
        expect.fail(`${outcome.kind}: ${outcome.text}\n${JSON.stringify({ schema, shape, meant })}`);
      }
      if (outcome.kind === 'ok' && !isDeepStrictEqual(taken, meant)) expect.fail('the handler had something else');
    }),
    { numRuns, seed, ...rest },
  );
  calls.checkPrototypes();
}
