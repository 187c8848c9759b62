import { HoldfastError, isHoldfastError, type Json } from '@holdfast/core';
import { copyJson, describeThrown } from '@holdfast/core/internal';
import { describeWaiting } from '../agents/agent.ts';
import type { GuardedCall, GuardRelease, GuardReport, GuardVerdict, ReleasingGuard } from '../decide/types.ts';

/** The parts of a guarded call that a framework does not know. */
export interface GovernOptions extends Pick<GuardedCall, 'agent' | 'subAgentId' | 'cwd' | 'workspace'> {
  /**
   * Who answers an ask. `framework` (default): its own approvals. `holdfast`: `answerApproval`; the model is told to make the call again
   * once a person has approved it.
   */
  readonly asks?: 'framework' | 'holdfast';
}

/** A call of a framework, as the guard knows it. */
export interface GovernedCall extends GuardedCall {
  readonly id: string;
}

/** @throws HoldfastError `guard.failed` for a call without an id: a framework that repeats it could not be told from a second call. */
export function toGoverned(
  framework: string,
  { id, name, input }: { readonly id: string | undefined; readonly name: string; readonly input: unknown },
  { asks = 'framework', ...place }: GovernOptions,
): GovernedCall {
  if (id === undefined || id === '') throw new HoldfastError('guard.failed', `The call of \`${name}\` has no id.`);
  return { agent: framework, ...place, id, name, input: toInput(input), agentAsks: asks === 'framework' };
}

/** The verdict for the framework: with `asks: 'holdfast'`, an ask is a denial. */
export async function decide(guard: ReleasingGuard, call: GovernedCall): Promise<GuardVerdict> {
  const verdict = await guard.before(call);
  if (verdict.type !== 'ask' || call.agentAsks === true) return verdict;
  return { type: 'deny', code: 'approval.pending', reason: describeWaiting(verdict.reason) };
}

/** The part of a call that runs once it is released. */
export interface GovernedBody<Value> {
  run(): Value | PromiseLike<Value>;
  readonly signal?: AbortSignal | undefined;
  /** For a framework whose bodies return their errors: its text, or `undefined` for a success. */
  readonly problemOf?: (value: Value) => string | undefined;
}

/**
 * Runs the body of a released call and reports how it went. A call that has ended returns its first value and does not run again.
 *
 * @throws HoldfastError for a call that may not run, with the code and reason of the verdict; and what `body` throws.
 */
export async function runGoverned<Value>(
  guard: ReleasingGuard,
  call: GovernedCall,
  { run, signal, problemOf }: GovernedBody<Value>,
): Promise<Value> {
  const released = await guard.release(call);
  // Kept whole, it is what the body returned, as JSON.
  if (released.type !== 'allow') return toFirstValue(call, released) as Value;
  if (signal?.aborted === true) {
    await guard.after(call, { ok: 'not-run' });
    throw signal.reason;
  }
  let value: Value;
  try {
    value = signal === undefined ? await run() : await untilAborted(run, signal);
  } catch (thrown) {
    await guard.after(call, toFailure(thrown, signal));
    throw thrown;
  }
  const problem = problemOf?.(value);
  await guard.after(call, problem === undefined ? toSuccess(value) : { ok: false, message: problem });
  return value;
}

/** The same for a body that streams: each part is passed on, and the last is its value. A reader that stops early leaves it in doubt. */
export async function* streamGoverned<Part>(
  guard: ReleasingGuard,
  call: GovernedCall,
  body: () => AsyncIterable<Part>,
  signal?: AbortSignal,
): AsyncGenerator<Part, void, undefined> {
  const released = await guard.release(call);
  if (released.type !== 'allow') {
    yield toFirstValue(call, released) as Part;
    return;
  }
  let report: GuardReport = { ok: 'unknown', message: 'Its result was not read to the end.' };
  try {
    let last: Part | undefined;
    for await (const part of body()) {
      last = part;
      yield part;
    }
    report = toSuccess(last);
  } catch (thrown) {
    report = toFailure(thrown, signal);
    throw thrown;
  } finally {
    await guard.after(call, report);
  }
}

/** Releases a call whose body the framework starts by itself. `undefined`: it runs now. Else the text for the model. */
export async function releaseGoverned(guard: ReleasingGuard, call: GovernedCall): Promise<string | undefined> {
  const released = await guard.release(call);
  if (released.type === 'allow') return undefined;
  try {
    return `\`${call.name}\` has already run: ${JSON.stringify(toFirstValue(call, released))}`;
  } catch (thrown) {
    return refusalOf(thrown);
  }
}

/** The message for the model of an error of `runGoverned`. @throws what the body threw. */
export function refusalOf(thrown: unknown): string {
  if (isHoldfastError(thrown) && refusals.has(thrown)) return thrown.message;
  throw thrown;
}

const refusals = new WeakSet<object>();

function refuse(code: string, message: string): HoldfastError {
  const error = new HoldfastError(code, message);
  refusals.add(error);
  return error;
}

/** The value of an ended call, to be given to the framework again. */
function toFirstValue(call: GovernedCall, released: Exclude<GuardRelease, { type: 'allow' }>): Json {
  if (released.type === 'deny') throw refuse(released.code, released.reason);
  if (released.type === 'ask') throw refuse('approval.pending', describeWaiting(released.reason));
  const { kind, code = 'call.in_doubt', message, value } = released.ending;
  if (kind !== 'ok') throw refuse(code, message);
  if (isKept(value)) return value.value;
  throw refuse('call.in_doubt', `\`${call.name}\` has already run under this call id; its result was not kept.`);
}

function untilAborted<Value>(run: () => Value | PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(run)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A body that was told to stop may yet take effect. */
function toFailure(thrown: unknown, signal: AbortSignal | undefined): GuardReport {
  const message = describeThrown(thrown);
  return signal?.aborted === true ? { ok: 'unknown', message } : { ok: false, message };
}

const keptLength = 2048;

interface Kept {
  readonly value: Json;
}

/** Short values are kept whole, of long ones the first 2 kB. */
export function toSuccess(value: unknown): GuardReport {
  const text = toText(value);
  if (text !== undefined && text.length <= keptLength) return { ok: true, value: { value: JSON.parse(text) as Json } };
  const begins = (text ?? '').slice(0, keptLength).toWellFormed();
  return { ok: true, value: { length: text?.length ?? 0, begins } };
}

function isKept(value: Json): value is Json & Kept {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'value');
}

function toText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // Not JSON: the log says that there was a value, and no more.
    return undefined;
  }
}

/** As JSON, so that a call and its record in another process are equal. */
function toInput(input: unknown): Json {
  const copied = copyJson(input ?? {});
  if (copied.ok) return copied.value;
  const text = JSON.stringify(input ?? {});
  return text === undefined ? {} : (JSON.parse(text) as Json);
}
