import type { JsonObject, Outcome } from '@holdfast/core';
import { type NamedCall, nameCalls, runCalls } from '../loop/calls.ts';
import { addUsage, type LoopEnd, type LoopTurn } from '../loop/course.ts';
import { type Protocol, stopped } from '../loop/rounds.ts';
import { type AskedProgram, askProgram } from '../predict/ask.ts';
import { renderProgram } from '../predict/render.ts';
import { moduleError } from '../signature/problems.ts';
import { ask, askFitting, endOf, listNames, type ReactRun, type Reply } from './course.ts';
import { finishName, readStep, renderTrajectory, type Step, showArgs, type TextPrograms } from './step.ts';

export interface TextRun extends ReactRun {
  readonly programs: TextPrograms;
  readonly input: JsonObject;
  /** The steps so far. */
  readonly steps: Step[];
}

/** A step whose call waits for approval. */
export interface TextTurn extends LoopTurn {
  /** Exactly one. */
  readonly calls: readonly NamedCall[];
  readonly thought: string;
  readonly overspent: boolean;
}

/**
 * Asks the model step by step for one tool to call, until it calls `finish` or reaches the limit, then asks for the outputs based on the
 * steps. An answer without a readable call counts as a step.
 *
 * Source: DSPy `dspy/predict/react.py`, as of version 3.0.
 */
export function textProtocol(run: TextRun): Protocol<TextTurn> {
  const { course, conversation, live, programs, steps, catalog } = run;
  const withTrajectory = (): JsonObject => ({
    ...run.input,
    trajectory: renderTrajectory(steps, conversation.leftOut),
  });
  const shorten = (): boolean => conversation.leaveOutOldest();
  return {
    async ask() {
      const program = programs.step(catalog.toJSON());
      const reply = await askFitting<Reply>(
        () => ask({ messages: renderProgram(program, withTrajectory()), tools: [] }, run),
        shorten,
      );
      course.iterations += 1;
      if (reply.type !== 'message') return endOf(reply, run);
      const { text, reason, overspent } = reply;
      conversation.begin({ role: 'assistant', text: text === '' ? '(no text)' : text, calls: [] });
      const { thought, toolName = '', toolArgs } = readStep(text);
      const step = { thought, toolName, toolArgs: showArgs(toolArgs) };
      const isCut = reason === 'length' && !text.includes(endMarker);
      if (isCut || toolName === '') {
        observe(run, { ...step, observation: isCut ? cutOff : noName });
        return overspent ? { type: 'stopped', reason: 'budget' } : undefined;
      }
      if (toolName === finishName) {
        observe(run, { ...step, observation: finished });
        return { type: 'finished' };
      }
      const round = course.iterations - 1;
      const calls = nameCalls([{ name: toolName, args: toolArgs }], { loop: live.loop, round, taken: noIds });
      return { type: 'turn', turn: { calls, thought, overspent } };
    },
    take: (turn, earlier) => takeCall(run, turn, earlier),
    async conclude(isFinished) {
      const answer = await askFitting(() => extract(run, withTrajectory()), shorten);
      const { text } = answer;
      if (text !== '') conversation.begin({ role: 'assistant', text, calls: [] });
      switch (answer.type) {
        case 'answer': {
          const { reasoning } = answer.extras;
          const shown = typeof reasoning === 'string' ? { reasoning } : {};
          const reason = isFinished ? 'submit' : 'forced-submit';
          return { type: 'answered', reason, output: answer.output, ...shown };
        }
        case 'ended':
          return stopped(run);
        case 'failed': {
          const { error } = answer;
          if (isFinished || error.code !== 'modules.output_unparsable')
            return { type: 'unanswered', reason: 'failed', error };
          const message = `No answer after ${course.iterations} steps, even when only the outputs were requested.`;
          const noAnswer = moduleError('MaxIterationsReached', message, { cause: error });
          return { type: 'unanswered', reason: 'max-iterations', error: noAnswer };
        }
        default:
          return answer satisfies never;
      }
    },
  };
}

const noIds: ReadonlySet<string> = new Set();
const endMarker = '[[ ## completed ## ]]';
const finished = 'Completed.';
const noName =
  'No tool was called: `next_tool_name` is missing. A step needs `next_thought`, `next_tool_name` and `next_tool_args`.';
const cutOff = 'Not run: the step was cut off and may be incomplete. Write it again, shorter.';
const outOfTokens = 'Not run: the step that requested it used up the token budget.';

/** Makes the call of a step. `undefined`: the model may continue. */
async function takeCall(
  run: TextRun,
  turn: TextTurn,
  earlier?: ReadonlyMap<string, Outcome>,
): Promise<LoopEnd<TextTurn> | undefined> {
  const { course, live, catalog } = run;
  const { calls, thought, overspent } = turn;
  const asked = overspent ? calls.map((call) => ({ ...call, refusal: outOfTokens })) : calls;
  const result = await runCalls(asked, { caller: live.caller, ...(earlier === undefined ? {} : { earlier }) });
  const { pending, waiting } = result;
  if (waiting.length > 0) return { type: 'suspended', pending, waiting, turn };
  for (const made of result.calls) {
    const { outcome, name, args } = made;
    const told = outcome === undefined ? made.text : (toPlainText(outcome) ?? made.text);
    const text = outcome?.kind === 'unknown-tool' ? listNames(told, catalog, finishName) : told;
    course.calls.push({ ...made, text });
    observe(run, { thought, toolName: name, toolArgs: showArgs(args), observation: text });
  }
  return overspent || result.outOfCalls ? { type: 'stopped', reason: 'budget' } : undefined;
}

/** A text-only result as plain text, because observations in tuned examples are not JSON strings. `undefined` for any other result. */
function toPlainText({ kind, value, text }: Outcome): string | undefined {
  return kind === 'ok' && typeof value === 'string' && text === JSON.stringify(value) ? value : undefined;
}

function observe({ conversation, steps }: TextRun, step: Step): void {
  conversation.add({ role: 'user', text: `[[ ## observation_${steps.length} ## ]]\n${step.observation}` });
  steps.push(step);
}

async function extract({ course, live, model, programs }: TextRun, input: JsonObject): Promise<AskedProgram<unknown>> {
  const { signal, deadline, caller } = live;
  const asked = await askProgram(programs.extract, input, { model, signal, deadline });
  course.requests += asked.requests;
  course.usage = addUsage(course.usage, asked.usage);
  caller.spend(asked.usage);
  if (asked.type === 'failed') course.partial = asked.output;
  return asked;
}
