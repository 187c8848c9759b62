import type { Json, JsonObject, Outcome, ToolCall, ToolDeclaration } from '@holdfast/core';
import { copyJson, modelJsonLimits } from '@holdfast/core/internal';
import { leaveCalls, type NamedCall, nameCalls, overLimit, runCalls } from '../loop/calls.ts';
import type { LoopEnd, LoopTurn } from '../loop/course.ts';
import type { AskedCall } from '../loop/read-tool-call.ts';
import type { LoopCall } from '../loop/result.ts';
import type { Protocol } from '../loop/rounds.ts';
import type { ToolCatalog, ToolListing } from '../loop/tool-catalog.ts';
import { moduleError } from '../signature/problems.ts';
import { ask, askFitting, endOf, listNames, type ReactRun, type Reply } from './course.ts';
import { declareSubmit, readSubmit, type SubmitReading, submitName } from './submit.ts';

/** The calls of one message, and how many of them, not counting submits, have ended: the last ones of the course. */
export interface NativeTurn extends LoopTurn {
  readonly done: number;
  /** True if no further request may be made. */
  readonly overspent: boolean;
}

/**
 * Offers the model its tools and `submit` until it submits the outputs. At the limit it is asked once more, with `submit` alone.
 *
 * Source: DSPy `dspy/predict/react_v2.py`, where a message without a call ends the loop.
 */
export function nativeProtocol(run: ReactRun): Protocol<NativeTurn> {
  const { course, conversation, live } = run;
  const taken = new Set(
    conversation.history.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ id }) => id) : [])),
  );
  const submit = declareSubmit(run.program);
  const offer = createOffer(run.catalog, submit);
  const nextReply = (tools: readonly ToolDeclaration[]): Promise<Reply> =>
    askFitting<Reply>(
      () => ask({ messages: conversation.sent, tools }, run),
      () => conversation.leaveOutOldest(),
    );
  /** Adds the message to the conversation and assigns ids to its calls. */
  const take = (message: Message, round: number): readonly NamedCall[] => {
    const { text, calls, providerMetadata } = message;
    const named = nameCalls(calls.map(toAskedCall), { loop: live.loop, round, taken });
    for (const { id } of named) taken.add(id);
    const asked = named.map(({ id, name, args }) => Object.freeze({ id, name, arguments: args }));
    // Providers reject empty messages.
    const shown = text === '' && calls.length === 0 ? '(no text)' : text;
    conversation.begin(Object.freeze({ role: 'assistant', text: shown, calls: asked, providerMetadata }));
    return refuse(named, message);
  };
  return {
    async ask() {
      const reply = await nextReply(offer());
      course.iterations += 1;
      if (reply.type !== 'message') return endOf(reply, run);
      const { overspent } = reply;
      const calls = take(reply, course.iterations - 1);
      if (calls.length > 0) return { type: 'turn', turn: { calls, done: 0, overspent } };
      if (overspent) return { type: 'stopped', reason: 'budget' };
      conversation.add({ role: 'user', text: withoutCall });
      return undefined;
    },
    take: (turn, earlier) => takeTurn(run, turn, earlier),
    async conclude() {
      conversation.add({ role: 'user', text: lastRequest });
      const reply = await nextReply([submit]);
      if (reply.type !== 'message') return endOf(reply, run);
      return forceSubmit(run, take(reply, course.iterations));
    },
  };
}

type Message = Extract<Reply, { readonly type: 'message' }>;

const withoutCall = `This is not an answer yet. Call a tool, or call \`${submitName}\` with the answer.`;
const lastRequest = `This is the last round. Call \`${submitName}\` now with your best answer.`;
const onlySubmit = `Not run: only \`${submitName}\` was available in the last round.`;
const cutOff = 'Not run: the message was cut off, so this call may be incomplete. Send it again, shorter.';
const outOfTokens = 'Not run: the message that requested it used up the token budget.';
const submitted = 'Submitted.';
const unchecked = 'The outputs could not be checked.';
const submittedBefore = 'Not run: the answer was already submitted.';

/** Runs the calls of a message in order up to a submit, then takes the submitted outputs. `undefined`: the model continues. */
async function takeTurn(
  run: ReactRun,
  { calls: asked, done, overspent }: NativeTurn,
  earlier?: ReadonlyMap<string, Outcome>,
): Promise<LoopEnd<NativeTurn> | undefined> {
  const { course, live, catalog } = run;
  const calls = refuseAfterSubmit(asked, run);
  const others = calls.filter(isOther);
  const before = course.calls.slice(course.calls.length - done);
  const { caller } = live;
  const result = await runCalls(others.slice(done), { caller, ...(earlier === undefined ? {} : { earlier }) });
  const made = result.calls.map((call) =>
    call.outcome?.kind === 'unknown-tool' ? { ...call, text: listNames(call.text, catalog, submitName) } : call,
  );
  course.calls.push(...made);
  if (result.waiting.length > 0) {
    const turn: NativeTurn = { calls, done: done + made.length, overspent };
    return { type: 'suspended', pending: result.pending, waiting: result.waiting, turn };
  }
  const answer = answerAll(run, calls, [...before, ...made]);
  if (answer !== undefined) return toEnd(answer, 'submit');
  return overspent || result.outOfCalls ? { type: 'stopped', reason: 'budget' } : undefined;
}

/** A submit ends the task: calls after it are neither run nor sent for approval. */
function refuseAfterSubmit(calls: NativeTurn['calls'], { program }: ReactRun): NativeTurn['calls'] {
  const at = calls.findIndex(
    (call) =>
      !isOther(call) && call.refusal === undefined && readSubmit(call.args, program.signature).type !== 'refused',
  );
  return calls.map((call, index) =>
    at === -1 || index <= at || call.refusal !== undefined ? call : { ...call, refusal: submittedBefore },
  );
}

/** Takes the outputs submitted in the last message; its other calls are not run. */
function forceSubmit(run: ReactRun, calls: readonly NamedCall[]): LoopEnd<NativeTurn> {
  const left = leaveCalls(calls.filter(isOther), onlySubmit);
  run.course.calls.push(...left);
  const answer = answerAll(run, calls, left);
  if (answer !== undefined) return toEnd(answer, 'forced-submit');
  const message = `No answer after ${run.course.iterations} rounds, even when only \`${submitName}\` was offered.`;
  return { type: 'unanswered', reason: 'max-iterations', error: moduleError('MaxIterationsReached', message) };
}

type Taken = Exclude<SubmitReading, { readonly type: 'refused' }>;

function toEnd(taken: Taken, reason: 'submit' | 'forced-submit'): LoopEnd<NativeTurn> {
  return taken.type === 'accepted'
    ? { type: 'answered', reason, output: taken.output }
    : { type: 'unanswered', reason: 'failed', error: taken.error };
}

/** Answers all calls of a message, in order. Returns the submit if it was accepted or could not be checked. */
function answerAll(
  { course, conversation, program }: ReactRun,
  calls: readonly NamedCall[],
  others: readonly LoopCall[],
): Taken | undefined {
  let answer: Taken | undefined;
  let next = 0;
  for (const call of calls) {
    const { id: callId, name } = call;
    let told: { readonly success: boolean; readonly text: string };
    if (isOther(call)) {
      const { outcome, text } = others[next] ?? { outcome: undefined, text: '' };
      next += 1;
      told = { success: outcome?.kind === 'ok', text };
    } else if (call.refusal !== undefined) told = { success: false, text: call.refusal };
    else if (answer !== undefined) told = { success: false, text: submittedBefore };
    else {
      const reading = readSubmit(call.args, program.signature);
      if (reading.type !== 'refused') {
        answer = reading;
        told = reading.type === 'accepted' ? { success: true, text: submitted } : { success: false, text: unchecked };
      } else {
        course.partial = reading.partial;
        told = { success: false, text: reading.message };
      }
    }
    conversation.add(Object.freeze({ role: 'tool', callId, name, ...told }));
  }
  return answer;
}

function isOther({ name }: NamedCall): boolean {
  return name !== submitName;
}

/** Refuses calls: all calls of a message that was cut off, or those that cost more if it exceeded the budget. */
function refuse(calls: readonly NamedCall[], { reason, overspent }: Message): readonly NamedCall[] {
  return calls.map((call) => {
    const { refusal, ...rest } = call;
    // A submit does not count towards the limit of calls per message.
    const own = isOther(call) || refusal !== overLimit ? refusal : undefined;
    const why = reason === 'length' ? cutOff : overspent && isOther(call) ? outOfTokens : own;
    return why === undefined ? rest : { ...rest, refusal: why };
  });
}

/** `arguments` as JSON; invalid JSON is reported as arguments that are not an object. */
function toAskedCall({ id, name, arguments: raw }: ToolCall): AskedCall {
  const given: unknown = id;
  const called: unknown = name;
  return {
    ...(typeof given === 'string' && given !== '' ? { id: given } : {}),
    name: typeof called === 'string' ? called : `(${typeof called})`,
    args: toArguments(raw),
  };
}

function toArguments(raw: unknown): Json {
  if (typeof raw === 'string') return raw;
  const copied = copyJson(raw ?? {}, modelJsonLimits);
  return copied.ok ? copied.value : null;
}

/** The tools for the model: the same list as long as no tool is added. */
function createOffer(catalog: ToolCatalog, submit: ToolDeclaration): () => readonly ToolDeclaration[] {
  let listed: readonly ToolListing[] | undefined;
  let offered: readonly ToolDeclaration[] = [];
  return () => {
    const listings = catalog.toJSON();
    if (listings !== listed) {
      listed = listings;
      // A tool that was registered later under the name of the submit cannot be called.
      const tools = listings.filter(({ name }) => name !== submitName).map(toDeclaration);
      offered = Object.freeze([...tools, submit]);
    }
    return offered;
  };
}

const noArguments: JsonObject = Object.freeze({ type: 'object', properties: {}, additionalProperties: false });

function toDeclaration({ name, description, args_schema: inputSchema }: ToolListing): ToolDeclaration {
  return Object.freeze({ name, description, inputSchema: inputSchema ?? noArguments });
}
