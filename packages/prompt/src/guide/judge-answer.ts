import type { CompletionChecker } from '@holdfast/core';
import { forModel, hasMask, isPlainObject } from '@holdfast/core/internal';
import type {
  AnswerVerdict,
  Completion,
  FeedbackEvent,
  Guide,
  ModelAnswer,
  OutputFormat,
  Speaker,
} from '@holdfast/core/types';
import { hear, toGuidanceContext } from './hear.ts';
import { countedCalls, countLast, giveFeedback, noteFeedback } from './speak.ts';

/** Runs the feedback, completion checker and output of a prompt. */
export const guide: Guide = Object.freeze({ giveFeedback, countLast, judgeAnswer });

type Missing = Pick<Extract<AnswerVerdict, { readonly type: 'done' }>, 'unfinished'>;

/** Decides whether the run is over: checks completion first, then the output format. */
async function judgeAnswer(answer: ModelAnswer, speaker: Speaker): Promise<AnswerVerdict> {
  const { completion, output } = speaker.rendered;
  const missed = completion && (await findMissed(completion.checker, answer, speaker));
  if (missed !== undefined) {
    const { given, failed } = missed;
    const unfinished = given.text;
    const canWork = answer.canGoOn() && answer.canWork();
    const wanted = answer.returns < (completion?.maxReturns ?? 0);
    const again = canWork && wanted;
    const calls = countedCalls(speaker);
    if (again) noteFeedback(speaker, { source: 'completion', calls, given: [given], failed });
    else if (failed.length > 0) noteFeedback(speaker, { source: 'completion', calls, given: [], failed });
    if (again) return { type: 'again', source: 'completion', text: unfinished };
    if (wanted && !canWork) return { type: 'stuck', unfinished };
  }
  const missing = missed === undefined ? {} : { unfinished: missed.given.text };
  return output === undefined ? { type: 'done', ...missing } : readOutput(output, { answer, speaker, missing });
}

interface Missed {
  readonly given: { readonly name: string; readonly text: string };
  /** Set if the check failed. */
  readonly failed: FeedbackEvent['failed'];
}

/** `undefined` when the work is done. */
async function findMissed(
  checker: CompletionChecker,
  { text }: ModelAnswer,
  speaker: Speaker,
): Promise<Missed | undefined> {
  const { name } = checker;
  const context = Object.freeze({ ...toGuidanceContext(speaker.scope, countedCalls(speaker)), text });
  const heard = await hear(() => checker.check(context), speaker.scope, undefined);
  const completion = heard.type === 'answered' ? readCompletion(heard.value) : undefined;
  if (completion?.complete === true) return undefined;
  if (completion !== undefined) return { given: { name, text: completion.feedback }, failed: [] };
  const message = heard.type === 'failed' ? heard.message : noAnswer[heard.type];
  // A failed check counts as incomplete.
  const told = forModel(`The completion check failed: ${message}`);
  return { given: { name, text: told }, failed: [{ name, message }] };
}

const noAnswer = {
  answered: 'the checker returned no valid completion.',
  ended: 'the run ended before the checker answered.',
};

function readCompletion(value: unknown): Completion | undefined {
  try {
    if (!isPlainObject(value)) return undefined;
    const { complete, feedback } = value;
    if (complete === true) return { complete };
    if (complete !== false || typeof feedback !== 'string') return undefined;
    return { complete, feedback: feedback.trim() === '' ? 'The work is not done yet.' : feedback };
  } catch {
    // A getter threw: not a valid answer.
    return undefined;
  }
}

const masked = {
  ok: false,
  message: 'Your last message contained a secret, which was removed from the log. Answer again with the whole output.',
} as const;

function readOutput(
  output: OutputFormat,
  { answer, speaker, missing }: { readonly answer: ModelAnswer; readonly speaker: Speaker; readonly missing: Missing },
): AnswerVerdict {
  const parsed = answer.recorded && hasMask(answer.text) ? masked : output.parse(answer.text);
  if (parsed.ok) return { type: 'done', output: parsed.value, ...missing };
  const { message } = parsed;
  const error = { name: 'OutputError', code: 'output.invalid', message };
  if (answer.corrections >= output.maxCorrections) return { type: 'wrong', error, ...missing };
  if (!answer.canGoOn()) return { type: 'stuck', error, ...missing };
  const given = [{ name: 'output', text: message }];
  noteFeedback(speaker, { source: 'output', calls: countedCalls(speaker), given, failed: [] });
  return { type: 'again', source: 'output', text: message };
}
