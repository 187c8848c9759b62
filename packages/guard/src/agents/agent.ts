import { type Describer, HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { fetchFacts, fileFacts, mcpFacts, noFacts, patchFacts, shellFacts } from '@holdfast/facts';
import type { GuardedCall, GuardedCallName, GuardReport, GuardVerdict } from '../decide/types.ts';

/** An event that an agent reports to its hook. */
export type HookEvent =
  | { readonly type: 'before'; readonly call: GuardedCall }
  | { readonly type: 'after'; readonly call: GuardedCallName; readonly report: GuardReport }
  | { readonly type: 'prompt'; readonly request: string }
  | { readonly type: 'end' }
  /** An event that a guard ignores. */
  | { readonly type: 'other' };

export interface HookInput {
  readonly sessionId: string;
  readonly cwd: string;
  readonly event: HookEvent;
}

/** The output and exit code of a hook's process. */
export interface HookAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: 0 | 2;
}

/** A coding agent, as far as its hooks go. */
export interface Agent {
  readonly name: string;
  /** @throws HoldfastError `guard.failed` for what this agent does not send. */
  readHook(text: string): HookInput;
  /** Translates a verdict for this agent. */
  answer(verdict: GuardVerdict, call: GuardedCall): HookAnswer;
  /** For its tools. */
  readonly describers: readonly Describer[];
}

/** No output: the agent's own rules stay in force. */
export const silent: HookAnswer = Object.freeze({ stdout: '', stderr: '', exitCode: 0 });

/** The denial that every agent understands, also from a hook that has crashed. */
export function refuse(reason: string): HookAnswer {
  return { stdout: '', stderr: `${reason.trim() || 'Denied by Holdfast.'}\n`, exitCode: 2 };
}

export function answerJson(answer: JsonObject): HookAnswer {
  return { stdout: JSON.stringify(answer), stderr: '', exitCode: 0 };
}

/** The text a model reads about a pending call: never how a person answers. */
export function describeWaiting(reason: string): string {
  return `A person has to approve this in Holdfast first, then make the same call again. ${reason}`;
}

/** Large: the content of a written file is part of the input. */
const limits = { maxLength: 32 * 1_048_576, maxDepth: 64, maxKeys: 100_000 };

export function readFields(agent: string, text: string): JsonObject {
  const parsed = parseJson(text, limits);
  if (!parsed.ok) throw invalid(agent, parsed.problem);
  if (!isPlainObject(parsed.value)) throw invalid(agent, 'it is not an object');
  return parsed.value as JsonObject;
}

/** @throws HoldfastError `guard.failed` unless the field is text, and not empty. */
export function textField(agent: string, fields: JsonObject, name: string): string {
  const value = optionalText(fields, name);
  if (value === undefined || value === '') throw invalid(agent, `\`${name}\` must be text`);
  return value;
}

export function optionalText(fields: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** A prompt of the person. One for a sub-agent comes from a model, while calls of its parent are running. */
export function readPrompt(fields: JsonObject): HookEvent {
  if (optionalText(fields, 'agent_id') !== undefined) return { type: 'other' };
  return { type: 'prompt', request: optionalText(fields, 'prompt') ?? '' };
}

export function invalid(agent: string, problem: string): HoldfastError {
  return new HoldfastError('guard.failed', `The hook input of ${agent} cannot be read: ${problem}.`, {
    data: { agent },
  });
}

const keptLength = 2048;

/** The part of a result that goes into the log: short ones whole, long ones up to 2 kB. */
export function toKept(value: Json | undefined): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  if (text.length <= keptLength) return value ?? null;
  return { length: text.length, begins: text.slice(0, keptLength).toWellFormed() };
}

/** Describers of the tools that agents have in common. `idle`: tools that touch nothing outside of the agent. */
export function commonDescribers(idle: readonly string[]): readonly Describer[] {
  const names = new Set(idle);
  return [
    { name: 'agent', describe: ({ tool }) => (names.has(tool) ? noFacts : undefined) },
    shellFacts(),
    fileFacts(),
    patchFacts(),
    fetchFacts(),
    {
      name: 'mcp',
      describe(call, view) {
        const [, server] = /^mcp__(.+?)__./.exec(call.tool) ?? [];
        return server === undefined ? undefined : mcpFacts({ server }).describe(call, view);
      },
    },
  ];
}
