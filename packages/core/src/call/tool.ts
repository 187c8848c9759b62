import { checkOptions, type OptionRules } from '../basics/check-options.ts';
import { HoldfastError, toReason } from '../basics/errors.ts';
import { deepFreeze, isPlainObject, type Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { CallFacts, PlaceView } from './facts.ts';
import { isMaxResultChars, minResultChars, type ToolResult } from './result.ts';
import { findRetryProblem, type ToolRetry, toRetry } from './retry.ts';
import type { ProbeContext, ToolContext } from './tool-context.ts';
import { findEnvironmentProblem } from './tool-environment.ts';
import { checkToolName } from './tool-name.ts';

/** `none` only reads; `state` writes only session state and staged resources; `external` affects the outside world. */
export type Effects = 'none' | 'state' | 'external';

/** When an uncertain or failed call may run again: always, with the same idempotency key, or never. */
export type Repeat = 'safe' | 'keyed' | 'never';

/** The origin of a tool that was not written as code of this program. */
export interface ToolOrigin {
  readonly kind: 'file' | 'plugin' | 'mcp';
  /** For people: a file path relative to the tools folder, a package, a server. */
  readonly source: string;
  /** Digest of the code in hex: an approval covers only this code. */
  readonly digest?: string;
}

/** Tells whether an interrupted call took effect. `done`: with its return value, default null. */
export type EffectCheck =
  | { readonly type: 'done'; readonly value?: Json; readonly message?: string }
  | { readonly type: 'not-done'; readonly message?: string }
  | { readonly type: 'unknown'; readonly message?: string };

/** An example call for the model. Checked against the tool's schemas when first used in a prompt or call. */
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
   * Names of the objects that a call works on. Two calls of one turn with disjoint names may run in parallel if no policy in force keeps
   * state. Default: a call with effects runs alone.
   */
  locks?(input: Input): readonly string[];
  /** True if every call needs approval, unless granted. Default false. */
  readonly dangerous?: boolean;
  /** Time limit of a call in milliseconds. Default: only the run's deadline. */
  readonly timeoutMs?: number;
  /** Characters of a result sent to the model, at least 1,000; a runner may set a lower limit. Default 60,000. */
  readonly maxResultChars?: number;
  /**
   * Runs the tool again within the same call if it throws or returns `toolError`. Staged changes of the failed attempt are dropped first, and
   * one `timeoutMs` covers all attempts. Needs `repeat: 'safe'` or `'keyed'`. Default: no retry.
   */
  readonly retry?: ToolRetry;
  /**
   * True if `execute` first prepares, then calls `context.begin()`; a call that ends before that is never in doubt, and ends as `denied` if
   * `execute` throws a `HoldfastError` whose `data` has `denies: true`. Default false.
   */
  readonly prepares?: boolean;
  readonly examples?: readonly ToolExample<NoInfer<RawInput>, NoInfer<Output>>[];
  /** True if a prompt may override the tool's description for the model. Default true. */
  readonly acceptsOverrides?: boolean;
  /** For a tool file: requested environment variables, `NAME?` for an optional one. The loader passes those that the host grants. */
  readonly environment?: readonly string[];
  readonly origin?: ToolOrigin;
  /**
   * Absent: the tool is only declared, and calls end as `failed`, `tool.not_executable`. `input` is frozen, with defaults filled in. An error
   * is a failure, with the code of a HoldfastError or `tool.threw`.
   */
  execute?(input: Input, context: ToolContext): Executed<Output>;
  /**
   * Finds out whether a call that was interrupted by the end of its process took effect. Must not change anything. An error, or no result
   * within `timeoutMs` (default 30 s), means `unknown`.
   */
  probe?(input: Input, context: ProbeContext): EffectCheck | Promise<EffectCheck>;
  /** Text for the model in place of compact JSON. On an error the model gets the JSON, and the error is recorded. */
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
   * Set if the author declared neither `dangerous` nor `effects`. The loader and the registry make such foreign tools `dangerous`; tools of
   * the program itself are not gated.
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
  // Methods, not properties, whose parameters are bivariant, so that a Tool<{ path: string }> is a Tool.
  // The executor passes only values validated by the tool's own schema.
  execute?(input: Input, context: ToolContext): Executed<Output>;
  probe?(input: Input, context: ProbeContext): EffectCheck | Promise<EffectCheck>;
  renderResult?(value: Output): string;
  locks?(input: Input): readonly string[];
  facts?(input: Input, view: PlaceView): CallFacts;
}

/** The input type of a tool; `Json` if only its name is known. */
export type InputOfTool<Named> = Named extends Tool<infer Input, infer _Output> ? Input : Json;

/** The value of a success of a tool. */
export type OutputOfTool<Called> = Called extends Tool<infer _Input, infer Output> ? Output : never;

/** A tool that has an `execute`. */
export interface ExecutableTool<Input = unknown, Output = unknown> extends Tool<Input, Output> {
  execute(input: Input, context: ToolContext): Executed<Output>;
}

/**
 * Computes the fields: whether `execute` is given, and no unknown ones. One signature instead of two overloads, so that a wrong field is one
 * error, at that field.
 */
export type ToolFields<Given> = {
  readonly [Field in keyof Given]: Field extends keyof ToolDefinition<unknown, unknown>
    ? unknown
    : `no field of a tool: ${Field & string}`;
};

/**
 * Declares a tool. Undeclared effects count as `external` and are never repeated.
 *
 * @throws HoldfastError `tool.invalid`, `options.invalid`.
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
  // A tool derived from another one keeps properties that were added to that one.
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
      'tool.invalid',
      `\`effects\` of \`${name}\` must be none, state or external, got \`${String(effects)}\`.`,
      { data: { reason: 'effects.invalid' } },
    );
  }
  if (!['safe', 'keyed', 'never'].includes(repeat)) {
    throw new HoldfastError(
      'tool.invalid',
      `\`repeat\` of \`${name}\` must be safe, keyed or never, got \`${String(repeat)}\`.`,
      { data: { reason: 'repeat.invalid' } },
    );
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs))) {
    const message = `\`timeoutMs\` of \`${name}\` must be a positive number of milliseconds.`;
    throw new HoldfastError('tool.invalid', message, { data: { reason: 'timeout.invalid' } });
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
  if (problem !== undefined)
    throw new HoldfastError(problem.code, `\`${name}\`: ${problem.message}`, { data: toReason(problem) });
  const examples = definition.examples ?? [];
  for (const example of examples) {
    const length = example.description.trim().length;
    if (length < 1 || length > 200) {
      throw new HoldfastError('tool.invalid', `An example of \`${name}\` needs a description of 1 to 200 characters.`, {
        data: { reason: 'example.invalid' },
      });
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
      'tool.invalid',
      `The description of \`${tool}\` must have 1 to ${max} characters, got ${trimmed.length}.`,
      { data: { reason: 'description.invalid' } },
    );
  }
  if (origin === undefined && !ascii.test(trimmed)) {
    throw new HoldfastError('tool.invalid', `The description of \`${tool}\` must be ASCII.`, {
      data: { reason: 'description.invalid' },
    });
  }
  return trimmed;
}
