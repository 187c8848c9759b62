import { checkOptions, type OptionRules } from '../basics/check-options.ts';
import { HoldfastError } from '../basics/errors.ts';
import { deepFreeze, isPlainObject, type Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { CallFacts, PlaceView } from './facts.ts';
import { isMaxResultChars, minResultChars, type ToolResult } from './result.ts';
import { findRetryProblem, type ToolRetry, toRetry } from './retry.ts';
import type { ProbeContext, ToolContext } from './tool-context.ts';
import { findEnvironmentProblem } from './tool-environment.ts';
import { checkToolName } from './tool-name.ts';

/** `none` only reads; `state` writes session state and staged resources only; `external` touches the world. */
export type Effects = 'none' | 'state' | 'external';

/** When an uncertain or failed call may run again: always, with the same idempotency key, or never. */
export type Repeat = 'safe' | 'keyed' | 'never';

/** Where a tool that no person wrote as code came from. */
export interface ToolOrigin {
  readonly kind: 'file' | 'plugin' | 'mcp';
  /** For people: a file path relative to the tools folder, a package, a server. */
  readonly source: string;
  /** Of the code that runs, in hex: an approval of it holds for no other. */
  readonly digest?: string;
}

/** The answer whether an interrupted call took effect. `done`: with its return value, default null. */
export type EffectCheck =
  | { readonly type: 'done'; readonly value?: Json; readonly message?: string }
  | { readonly type: 'not-done'; readonly message?: string }
  | { readonly type: 'unknown'; readonly message?: string };

/** One call of a tool, for the model to see. Checked against the tool's schemas when it first meets a prompt or a call. */
export interface ToolExample<Input = unknown, Output = unknown> {
  /** 1 to 200 characters. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
}

/** The return type of `execute`: a result, or any JSON as the value of a success. */
export type Executed<Output> = ToolResult<Output> | Output | Promise<ToolResult<Output> | Output>;

/** The argument of `defineTool`. */
export interface ToolDefinition<Input, Output, RawInput = unknown> {
  /** Matches `^[a-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** 1 to 200 ASCII characters; with an `origin` up to 4,096 of any script. */
  readonly description: string;
  /** Absent: the tool takes no arguments. */
  readonly inputSchema?: Schema<Input, RawInput>;
  readonly outputSchema?: Schema<Output>;
  /** Its maximum effects, enforced by the runtime. Default `external`. */
  readonly effects?: Effects;
  /** Default `safe` for effects `none`, else `never`. */
  readonly repeat?: Repeat;
  /**
   * Names of what a call works on. Two calls of one turn whose names differ throughout may run at the same time when no policy
   * in force keeps state. Default: a call that changes anything runs alone.
   */
  locks?(input: Input): readonly string[];
  /** Asked for at every call without a grant. Default false. */
  readonly dangerous?: boolean;
  /** Longest that one call may take, in milliseconds. Default: only the run's deadline. */
  readonly timeoutMs?: number;
  /** Characters of a result's text that go to the model, 1,000 or more; a runner may say less. Default 60,000. */
  readonly maxResultChars?: number;
  /**
   * Runs the tool again within the same call when it fails: when it throws or answers with `toolError`. What the failed attempt has
   * staged is dropped first, and one `timeoutMs` holds for all attempts. Needs `repeat: 'safe'` or `'keyed'`. Default: once.
   */
  readonly retry?: ToolRetry;
  /** `execute` first gets ready what it needs, then calls `context.begin()`; a call that ends before that is never in doubt. Default false. */
  readonly prepares?: boolean;
  readonly examples?: readonly ToolExample<NoInfer<RawInput>, NoInfer<Output>>[];
  /** True if a prompt may override the tool's description for the model. Default true. */
  readonly acceptsOverrides?: boolean;
  /** Of a tool file: environment variables that it asks for, `NAME?` for an optional one. The loader passes those that the host grants. */
  readonly environment?: readonly string[];
  readonly origin?: ToolOrigin;
  /**
   * Absent: the tool is only declared, and a call ends as `failed`, `tool.not_executable`. `input` is frozen, defaults filled in. What
   * it throws is a failure, with the code of a HoldfastError or `tool.threw`.
   */
  execute?(input: Input, context: ToolContext): Executed<Output>;
  /**
   * Finds out whether a call that was begun and never ended, because its process did, took effect. Must not change anything. What it
   * throws, and what it does not answer within `timeoutMs` (default 30 s), means `unknown`.
   */
  probe?(input: Input, context: ProbeContext): EffectCheck | Promise<EffectCheck>;
  /** Text for the model in place of compact JSON. When it throws, the model gets the JSON and the record of the call the error. */
  renderResult?(value: Output): string;
  /** The effects of a call, for policies. Synchronous; changes nothing. Added to the facts of the host's describers, never replacing them. */
  facts?(input: Input, view: PlaceView): CallFacts;
}

/** A declared tool. Frozen; every default is filled in. */
export interface Tool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema<Input> | undefined;
  readonly outputSchema: Schema<Output> | undefined;
  readonly effects: Effects;
  readonly repeat: Repeat;
  readonly dangerous: boolean;
  /**
   * The author said neither `dangerous` nor `effects`. Whoever takes such a tool from elsewhere makes it `dangerous`, as the loader and
   * the registry of a configuration do; a program's own is not gated.
   */
  readonly undeclared?: true;
  readonly timeoutMs: number | undefined;
  readonly maxResultChars?: number;
  readonly retry: Required<ToolRetry> | undefined;
  readonly prepares: boolean;
  readonly examples: readonly ToolExample[];
  readonly acceptsOverrides: boolean;
  /** Absent: none. */
  readonly environment?: readonly string[];
  readonly origin: ToolOrigin | undefined;
  // Methods, not properties: their parameters are compared loosely, so that a Tool<{ path: string }> is a Tool.
  // The executor calls them with nothing but what the tool's own schema has let through.
  execute?(input: Input, context: ToolContext): Executed<Output>;
  probe?(input: Input, context: ProbeContext): EffectCheck | Promise<EffectCheck>;
  renderResult?(value: Output): string;
  locks?(input: Input): readonly string[];
  facts?(input: Input, view: PlaceView): CallFacts;
}

/** What the calls of a tool are given, arguments parsed: `Json` where it is only known by its name. */
export type InputOfTool<Named> = Named extends Tool<infer Input, infer _Output> ? Input : Json;

/** The value of a success of a tool. */
export type OutputOfTool<Called> = Called extends Tool<infer _Input, infer Output> ? Output : never;

/** A tool that has an `execute`. */
export interface ExecutableTool<Input = unknown, Output = unknown> extends Tool<Input, Output> {
  execute(input: Input, context: ToolContext): Executed<Output>;
}

/**
 * Which fields are given: whether `execute` is, and none that no tool has. One signature in place of two overloads, so that a wrong
 * field is one error, at that field.
 */
export type ToolFields<Given> = {
  readonly [Field in keyof Given]: Field extends keyof ToolDefinition<unknown, unknown>
    ? unknown
    : `no field of a tool: ${Field & string}`;
};

/**
 * Declares a tool. Effects that are not declared are taken to be `external`, and never to be repeated.
 *
 * @throws HoldfastError `tool.name.invalid`, `tool.name.reserved`, `tool.description.invalid`, `tool.timeout.invalid`,
 * `tool.effects.invalid`, `tool.repeat.invalid`, `tool.example.invalid`, `tool.retry.invalid`, `tool.retry.not_repeatable`,
 * `tool.environment.invalid`, `tool.environment.reserved`, `options.invalid`.
 */
export function defineTool<
  Input = Record<string, never>,
  Output = Json,
  RawInput = unknown,
  Given extends { readonly execute?: unknown } = { readonly execute?: unknown },
>(
  definition: ToolDefinition<Input, Output, RawInput> & ToolFields<Given>,
): Given extends { readonly execute: unknown } ? ExecutableTool<Input, Output> : Tool<Input, Output>;
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool<Input, Output> {
  // A tool that is made anew of another one brings along what somebody has added to that.
  const isTool = isPlainObject(definition) && Object.hasOwn(definition, 'acceptsOverrides');
  checkOptions('defineTool', definition, rules, { strays: isTool ? 'misspelled' : 'refused' });
  const {
    name,
    origin,
    effects = 'external',
    timeoutMs,
    retry,
    execute,
    probe,
    renderResult,
    locks,
    facts,
  } = definition;
  const { repeat = effects === 'none' ? 'safe' : 'never', environment, maxResultChars } = definition;
  checkToolName(name);
  if (!['none', 'state', 'external'].includes(effects)) {
    throw new HoldfastError(
      'tool.effects.invalid',
      `\`effects\` of \`${name}\` must be none, state or external, got \`${String(effects)}\`.`,
    );
  }
  if (!['safe', 'keyed', 'never'].includes(repeat)) {
    throw new HoldfastError(
      'tool.repeat.invalid',
      `\`repeat\` of \`${name}\` must be safe, keyed or never, got \`${String(repeat)}\`.`,
    );
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs))) {
    const message = `\`timeoutMs\` of \`${name}\` must be a positive number of milliseconds.`;
    throw new HoldfastError('tool.timeout.invalid', message);
  }
  if (!isMaxResultChars(maxResultChars)) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxResultChars\` of \`${name}\` must be an integer of at least ${minResultChars}, got ${String(maxResultChars)}.`,
      { data: { reason: 'max_result_chars', tool: name } },
    );
  }
  const problem =
    (retry === undefined ? undefined : findRetryProblem(retry, repeat)) ??
    (environment === undefined ? undefined : findEnvironmentProblem(environment));
  if (problem !== undefined) throw new HoldfastError(problem.code, `\`${name}\`: ${problem.message}`);
  const examples = definition.examples ?? [];
  for (const example of examples) {
    const length = example.description.trim().length;
    if (length < 1 || length > 200) {
      throw new HoldfastError(
        'tool.example.invalid',
        `An example of \`${name}\` needs a description of 1 to 200 characters.`,
      );
    }
  }
  return Object.freeze({
    name,
    description: checkDescription(name, definition.description, origin),
    inputSchema: definition.inputSchema,
    outputSchema: definition.outputSchema,
    effects,
    repeat,
    dangerous: definition.dangerous ?? false,
    ...(definition.dangerous === undefined && definition.effects === undefined ? { undeclared: true as const } : {}),
    timeoutMs,
    ...(maxResultChars === undefined ? {} : { maxResultChars }),
    retry: retry === undefined ? undefined : toRetry(retry),
    prepares: definition.prepares ?? false,
    examples: examples.length === 0 ? noExamples : deepFreeze(structuredClone([...examples])),
    acceptsOverrides: definition.acceptsOverrides ?? true,
    ...(environment === undefined ? {} : { environment: Object.freeze([...environment]) }),
    origin: origin === undefined ? undefined : Object.freeze({ ...origin }),
    ...(execute === undefined ? {} : { execute }),
    ...(probe === undefined ? {} : { probe }),
    ...(renderResult === undefined ? {} : { renderResult }),
    ...(locks === undefined ? {} : { locks }),
    ...(facts === undefined ? {} : { facts }),
  });
}

const rules: OptionRules = {
  name: 'text!',
  description: 'text!',
  inputSchema: 'any',
  outputSchema: 'any',
  effects: 'any',
  repeat: 'any',
  locks: 'function',
  dangerous: 'boolean',
  timeoutMs: 'any',
  maxResultChars: 'any',
  retry: 'any',
  prepares: 'boolean',
  examples: 'list',
  acceptsOverrides: 'boolean',
  environment: 'any',
  origin: 'object',
  execute: 'function',
  probe: 'function',
  renderResult: 'function',
  facts: 'function',
  undeclared: 'any',
};
const noExamples: readonly ToolExample[] = Object.freeze([]);
const ascii = /^[\x20-\x7e\n\t]*$/;

function checkDescription(tool: string, description: string, origin: ToolOrigin | undefined): string {
  const trimmed = description.trim();
  const max = origin === undefined ? 200 : 4096;
  if (trimmed.length < 1 || trimmed.length > max) {
    throw new HoldfastError(
      'tool.description.invalid',
      `The description of \`${tool}\` must have 1 to ${max} characters, got ${trimmed.length}.`,
    );
  }
  if (origin === undefined && !ascii.test(trimmed)) {
    throw new HoldfastError('tool.description.invalid', `The description of \`${tool}\` must be ASCII.`);
  }
  return trimmed;
}
