import type { Budget } from './budget.ts';
import type { Deadline } from './clock.ts';
import { HoldfastError } from './errors.ts';
import type { Filesystem } from './filesystem.ts';
import { deepFreeze, type Json } from './json.ts';
import type { Model } from './model.ts';
import type { Outcome } from './outcome.ts';
import type { TraceEntry } from './planner.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { findRetryProblem, type ToolRetry, toRetry } from './retry.ts';
import type { Schema } from './schema.ts';
import type { SessionEvent, SessionReader, Slice } from './slice.ts';
import { checkToolName } from './tool-name.ts';
import type { ToolResult } from './tool-result.ts';

/** `none` only reads; `state` writes session state and staged resources only; `external` touches the world. */
export type Effects = 'none' | 'state' | 'external';

/** Whether an uncertain or failed call may be run again: always, with the same idempotency key, or never. */
export type Repeat = 'safe' | 'keyed' | 'never';

/** Where a tool that no person wrote as code came from. */
export interface ToolOrigin {
  readonly kind: 'file' | 'plugin' | 'mcp';
  /** For people: a file path relative to the tools folder, a package, a server. */
  readonly source: string;
  /** Of the code that runs, in hex: an approval of it holds for no other. */
  readonly digest?: string;
}

/** Whether a call whose process ended under it took effect. `done`: with the value that it would have returned, default null. */
export type EffectCheck =
  | { readonly type: 'done'; readonly value?: Json; readonly message?: string }
  | { readonly type: 'not-done'; readonly message?: string }
  | { readonly type: 'unknown'; readonly message?: string };

/** What a tool may use to find out about an earlier call of its own. */
export interface ProbeContext {
  readonly callId: string;
  /** That of the call in question. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
}

/** One call of a tool, for the model to see. Checked against the tool's schemas when it first meets a prompt or a call. */
export interface ToolExample<Input = unknown, Output = unknown> {
  /** 1 to 200 characters. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
}

/** What a tool may do during its call. Frozen, and useless once the call has ended (`context.closed`). */
export interface ToolContext {
  /** Unique in its turn; a nested call has `<id of the call around it>/<number>`. */
  readonly callId: string;
  /** The same for every attempt at the same call, also after its process ended. A direct call with other arguments has another. */
  readonly idempotencyKey: string;
  /** Fires when the call has to stop. One that goes on is abandoned: its answer and its writes count for nothing. */
  readonly signal: AbortSignal;
  /** When `signal` fires at the latest: the nearest of the tool's `timeoutMs`, the run's end and the budget's. */
  readonly deadline: Deadline;
  /** Staged: what is dispatched here is seen here at once, and by others when the call succeeds. */
  readonly session: ToolSession;
  /** What the host bound, staged where it can be. */
  readonly resources: ReadonlyMap<string, unknown>;
  /** The resource `filesystem`, when the host bound one. */
  readonly filesystem: Filesystem | undefined;
  /**
   * The instance of a declared resource: the host's where it bound one under that name, else made when first used.
   *
   * @throws HoldfastError `resource.create_failed`, `resource.cycle`, `resource.lifetime`, `resource.name_conflict`, `resource.invalid`,
   * `context.closed`.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /**
   * Calls another tool on the same path, inside this call's transaction: what it did counts when this call succeeds. Its effects
   * may not exceed this tool's. It never suspends: an ask that neither a grant nor the host's `approve` answers is a denial.
   * `input` is a value or JSON text, default `{}`. Whatever goes wrong is an outcome; calls run one after another, in the order in
   * which they were made, and those with effects `none` beside each other.
   *
   * @throws HoldfastError `context.closed`.
   */
  call(name: string, input?: unknown): Promise<Outcome>;
  /**
   * A session of its own for a nested run, with this call's deadline, budget, grants, staged resources and subscribers. Its
   * records go to this session's log; its state ends with the call. Policies are those that the nested run is given.
   *
   * @throws HoldfastError `context.closed`.
   */
  child(): ChildSession;
  /** What the host allows for all calls and runs that share it; `undefined` without a budget. */
  readonly budget: Budget | undefined;
  /** The prompt of the run, what it rendered to and the run's model; `undefined` for a direct call. */
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
  /**
   * What became of the nodes that this one needs, directly or through others, in plan order; `undefined` for a call that is no node of
   * a plan, also for one that a node's tool makes, and outside of the host's process.
   */
  readonly trace: readonly TraceEntry[] | undefined;
  /** Tells observers how far the call is. Prolongs nothing. @throws HoldfastError `context.closed`. */
  progress(message: string): void;
  /** Tells observers that the call is alive. Prolongs nothing. @throws HoldfastError `context.closed`. */
  beat(): void;
}

/** A session under a call of another one. Runners take it where they take a session. */
export interface ChildSession extends SessionReader {
  readonly id: string;
  /** Makes the slice's reducers listen. */
  register(slice: Slice): void;
  dispatch(event: SessionEvent): void;
}

/** Session state as a tool may use it: what it stages is seen by the tool at once. */
export interface ToolSession extends SessionReader {
  /**
   * Stages an event; it is committed with the call, or never.
   *
   * @throws HoldfastError `event.unhandled`, `event.invalid`, `slice.value.invalid`, `tool.effects.exceeded` (the tool declares `none`),
   * `context.closed`; and whatever a reducer throws.
   */
  dispatch(event: SessionEvent): void;
  /** Dispatches to `log` slices: kept whatever becomes of the call. @throws as `dispatch`, and `event.retention`. */
  publish(event: SessionEvent): void;
}

/** What `execute` may answer: a result, or any JSON as the value of a success. */
export type Executed<Output> = ToolResult<Output> | Output | Promise<ToolResult<Output> | Output>;

/** What `defineTool` takes. */
export interface ToolDefinition<Input, Output, RawInput = unknown> {
  /** Matches `^[a-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** 1 to 200 ASCII characters; with an `origin` up to 4,096 of any script. */
  readonly description: string;
  /** Absent: the tool takes no arguments. */
  readonly inputSchema?: Schema<Input, RawInput>;
  readonly outputSchema?: Schema<Output>;
  /** What it touches, at most: the runtime holds the tool to it. Default `external`. */
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
  /**
   * Runs the tool again within the same call when it fails: when it throws or answers with `toolError`. What the failed attempt has
   * staged is dropped first, and one `timeoutMs` holds for all attempts. Needs `repeat: 'safe'` or `'keyed'`. Default: once.
   */
  readonly retry?: ToolRetry;
  readonly examples?: readonly ToolExample<NoInfer<RawInput>, NoInfer<Output>>[];
  /** Whether what a model is told of the tool may be overridden where a prompt has it. Default true. */
  readonly acceptsOverrides?: boolean;
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
  readonly timeoutMs: number | undefined;
  readonly retry: Required<ToolRetry> | undefined;
  readonly examples: readonly ToolExample[];
  readonly acceptsOverrides: boolean;
  readonly origin: ToolOrigin | undefined;
  // Methods, not properties: their parameters are compared loosely, so that a Tool<{ path: string }> is a Tool.
  // The executor calls them with nothing but what the tool's own schema has let through.
  execute?(input: Input, context: ToolContext): Executed<Output>;
  probe?(input: Input, context: ProbeContext): EffectCheck | Promise<EffectCheck>;
  renderResult?(value: Output): string;
  locks?(input: Input): readonly string[];
}

/** A tool that has an `execute`. */
export interface ExecutableTool<Input = unknown, Output = unknown> extends Tool<Input, Output> {
  execute(input: Input, context: ToolContext): Executed<Output>;
}

/**
 * Declares a tool. Effects that are not declared are taken to be `external`, and never to be repeated.
 *
 * @throws HoldfastError `tool.name.invalid`, `tool.name.reserved`, `tool.description.invalid`, `tool.timeout.invalid`,
 * `tool.effects.invalid`, `tool.repeat.invalid`, `tool.example.invalid`, `tool.retry.invalid`, `tool.retry.not_repeatable`.
 */
export function defineTool<Input = Record<string, never>, Output = Json, RawInput = unknown>(
  definition: ToolDefinition<Input, Output, RawInput> & Pick<ExecutableTool<Input, Output>, 'execute'>,
): ExecutableTool<Input, Output>;
export function defineTool<Input = Record<string, never>, Output = Json, RawInput = unknown>(
  definition: ToolDefinition<Input, Output, RawInput>,
): Tool<Input, Output>;
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool<Input, Output> {
  const { name, origin, effects = 'external', timeoutMs, retry, execute, probe, renderResult, locks } = definition;
  const { repeat = effects === 'none' ? 'safe' : 'never' } = definition;
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
    throw new HoldfastError(
      'tool.timeout.invalid',
      `\`timeoutMs\` of \`${name}\` must be a positive number of milliseconds.`,
    );
  }
  const retryProblem = retry === undefined ? undefined : findRetryProblem(retry, repeat);
  if (retryProblem !== undefined) throw new HoldfastError(retryProblem.code, `\`${name}\`: ${retryProblem.message}`);
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
    timeoutMs,
    retry: retry === undefined ? undefined : toRetry(retry),
    examples: examples.length === 0 ? noExamples : deepFreeze(structuredClone([...examples])),
    acceptsOverrides: definition.acceptsOverrides ?? true,
    origin: origin === undefined ? undefined : Object.freeze({ ...origin }),
    ...(execute === undefined ? {} : { execute }),
    ...(probe === undefined ? {} : { probe }),
    ...(renderResult === undefined ? {} : { renderResult }),
    ...(locks === undefined ? {} : { locks }),
  });
}

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
