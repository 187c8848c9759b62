import type { JsonObject, Outcome } from '@holdfast/core';
import { type NamedCall, nameCalls, runCalls } from '../loop/calls.ts';
import { type AskedProgram, askProgram } from '../predict/ask.ts';
import { renderProgram } from '../predict/render.ts';
import { moduleError } from '../signature/problems.ts';
import { addUsage, ask, askFitting, listNames, type ReactEnd, type ReactRun, type Reply } from './course.ts';
import { finishName, readStep, renderTrajectory, type Step, showArgs, type TextPrograms } from './step.ts';

export interface TextRun extends ReactRun {
  readonly programs: TextPrograms;
  readonly input: JsonObject;
  /** What was done until now. */
  readonly steps: Step[];
}

/** A step whose call waits. JSON. */
export interface TextTurn extends JsonObject {
  readonly thought: string;
  readonly call: NamedCall & JsonObject;
  readonly overspent: boolean;
}

/**
 * Asks the model step by step for one tool to call, until it calls `finish` or the limit is there; then it is asked for the outputs, by
 * what the steps have brought. An answer from which no call can be read is a step, too. `open`: the step that waited.
 *
 * Source of the manner: DSPy `dspy/predict/react.py`, as of version 3.0.
 */
export async function runText(run: TextRun, open?: TextTurn): Promise<ReactEnd> {
  const { course, conversation, loop, maxIterations, programs, steps, toolset } = run;
  const withTrajectory = (): JsonObject => ({
    ...run.input,
    trajectory: renderTrajectory(steps, conversation.leftOut),
  });
  const shorten = (): boolean => conversation.leaveOutOldest();
  let isFinished = false;
  if (open !== undefined) {
    const ended = await takeCall(run, open, run.earlier);
    if (ended?.type !== 'suspended') run.noteResumed();
    if (ended !== undefined) return ended;
  }
  while (!isFinished && course.iterations < maxIterations) {
    const over = loop.whyOver();
    if (over !== undefined) return { type: 'stopped', reason: over };
    loop.refresh();
    const program = programs.step(toolset.toJSON());
    const reply = await askFitting<Reply>(
      () => ask({ messages: renderProgram(program, withTrajectory()), tools: [] }, run),
      shorten,
    );
    course.iterations += 1;
    if (reply.type === 'ended') return { type: 'stopped', reason: loop.whyOver() ?? 'aborted' };
    if (reply.type === 'failed') return { type: 'unanswered', reason: 'failed', error: reply.error };
    const { text, reason, overspent } = reply;
    conversation.begin({ role: 'assistant', text: text === '' ? '(no text)' : text, calls: [] });
    const { thought, toolName, toolArgs } = readStep(text);
    const isCut = reason === 'length' && !text.includes(endMarker);
    if (isCut || toolName === undefined) {
      observe(run, {
        thought,
        toolName: toolName ?? '',
        toolArgs: showArgs(toolArgs),
        observation: isCut ? cutOff : noName,
      });
      if (overspent) return { type: 'stopped', reason: 'budget' };
    } else if (toolName === finishName) {
      observe(run, { thought, toolName, toolArgs: showArgs(toolArgs), observation: finished });
      isFinished = true;
    } else {
      const round = course.iterations - 1;
      const [call] = nameCalls([{ name: toolName, args: toolArgs }], { loop: loop.loop, round, taken: noIds });
      const ended = call && (await takeCall(run, { thought, call: { ...call }, overspent }));
      if (ended !== undefined) return ended;
    }
  }
  const over = loop.whyOver();
  if (over !== undefined) return { type: 'stopped', reason: over };
  const answer = await askFitting(() => extract(run, withTrajectory()), shorten);
  const { text } = answer;
  if (text !== '') conversation.begin({ role: 'assistant', text, calls: [] });
  if (answer.type === 'failed' && !isFinished && answer.error.code === 'modules.output_unparsable') {
    const message = `No answer after ${course.iterations} steps, also when only the outputs were asked for.`;
    const error = moduleError('modules.max_iterations', message, { cause: answer.error });
    return { type: 'unanswered', reason: 'max-iterations', error };
  }
  switch (answer.type) {
    case 'answer': {
      const { reasoning } = answer.extras;
      const shown = typeof reasoning === 'string' ? { reasoning } : {};
      return { type: 'answered', reason: isFinished ? 'submit' : 'forced-submit', output: answer.output, ...shown };
    }
    case 'ended':
      return { type: 'stopped', reason: loop.whyOver() ?? 'aborted' };
    case 'failed':
      return { type: 'unanswered', reason: 'failed', error: answer.error };
    default:
      return answer satisfies never;
  }
}

const noIds: ReadonlySet<string> = new Set();
const endMarker = '[[ ## completed ## ]]';
const finished = 'Completed.';
const noName =
  'No tool was called: `next_tool_name` is missing. A step has `next_thought`, `next_tool_name` and `next_tool_args`.';
const cutOff = 'Not run: the step ended before it was surely complete. Write it again, shorter.';
const outOfTokens = 'Not run: the step that asked for it used up the tokens of the budget.';

/** Makes the call of a step. `undefined`: the model may go on. */
async function takeCall(
  run: TextRun,
  { thought, call, overspent }: TextTurn,
  earlier?: ReadonlyMap<string, Outcome>,
): Promise<ReactEnd | undefined> {
  const { course, loop, toolset } = run;
  const asked = overspent ? { ...call, refusal: outOfTokens } : call;
  const result = await runCalls([asked], {
    caller: loop.caller,
    ...(earlier === undefined ? {} : { earlier }),
  });
  const { pending, waiting } = result;
  if (waiting.length > 0) return { type: 'suspended', pending, waiting, turn: { thought, call, overspent } };
  for (const made of result.calls) {
    const { outcome } = made;
    const told = outcome === undefined ? made.text : (toPlainText(outcome) ?? made.text);
    const text = outcome?.kind === 'unknown-tool' ? listNames(told, toolset, finishName) : told;
    course.calls.push({ ...made, text });
    observe(run, { thought, toolName: call.name, toolArgs: showArgs(call.args), observation: text });
  }
  return overspent || result.outOfCalls ? { type: 'stopped', reason: 'budget' } : undefined;
}

/** A result that is nothing but text, as such: in tuned examples an observation is no JSON string. `undefined` for any other. */
function toPlainText({ kind, value, text }: Outcome): string | undefined {
  return kind === 'ok' && typeof value === 'string' && text === JSON.stringify(value) ? value : undefined;
}

function observe({ conversation, steps }: TextRun, step: Step): void {
  conversation.add({ role: 'user', text: `[[ ## observation_${steps.length} ## ]]\n${step.observation}` });
  steps.push(step);
}

async function extract({ course, loop, model, programs }: TextRun, input: JsonObject): Promise<AskedProgram<unknown>> {
  const { signal, deadline, caller } = loop;
  const asked = await askProgram(programs.extract, input, { model, signal, deadline });
  course.requests += asked.requests;
  course.usage = addUsage(course.usage, asked.usage);
  caller.spend(asked.usage);
  if (asked.type === 'failed') course.partial = asked.output;
  return asked;
}
