import {
  HoldfastError,
  isHoldfastError,
  type Json,
  type JsonObject,
  type Message,
  type Model,
  type ModelUsage,
  type ToolCall,
} from '@holdfast/core';
import { copyJson, describeThrown, isPlainObject } from '@holdfast/core/internal';
import type { Deadline } from '@holdfast/core/types';
import { type MessageReading, readOneMessage } from '@holdfast/executor/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { type ModuleError, type ModuleErrorOptions, moduleError } from '../signature/problems.ts';
import type { Program } from '../signature/program.ts';
import { checkOutput } from '../signature/signature.ts';
import { type AnswerProblem, type ParsedAnswer, parseAnswer, skipReasoning } from './parse-answer.ts';
import { type ExtraFields, type PromptFields, promptFields, renderProgram, renderRequest } from './render.ts';

export interface AskProgramOptions {
  readonly model: Model;
  readonly signal?: AbortSignal | undefined;
  /** Passed to the model. The caller makes `signal` fire when it passes. */
  readonly deadline?: Deadline | undefined;
  readonly extra?: ExtraFields | undefined;
}

/** The result of asking a model for the outputs of a program. */
export type AskedProgram<Output = JsonObject> = AskedCourse &
  (
    | (Extract<AnswerReading<Output>, { readonly type: 'answer' }> & {
        /** Calls that the model made although no tools were offered. Empty for a message that was cut off. */
        readonly calls: readonly ToolCall[];
      })
    /** `output` has the outputs that could be read. */
    | { readonly type: 'failed'; readonly error: ModuleError; readonly output: JsonObject }
    /** Ended by the signal. */
    | { readonly type: 'ended' }
  );

interface AskedCourse {
  /** The text of the last answer, possibly incomplete. */
  readonly text: string;
  /** The tokens of all requests. */
  readonly usage: ModelUsage;
  readonly requests: number;
}

/** A longer answer fails and is not read to its end. */
const maxCharacters = 1_000_000;
/** The first request, and one correction. */
const maxRequests = 2;

/**
 * Asks the model, and once more if its answer cannot be used. Failures of the model are returned. Does not wait for a model that ignores
 * the signal.
 *
 * @throws HoldfastError `modules.invalid`: the promise rejects without asking the model.
 */
export async function askProgram<Output>(
  program: Program<unknown, Output>,
  input: unknown,
  { model, signal, deadline, extra }: AskProgramOptions,
): Promise<AskedProgram<Output>> {
  const fields = promptFields(program, extra);
  let messages = renderProgram(program, readInput(program, input), extra);
  let course: AskedCourse = { text: '', usage: { inputTokens: 0, outputTokens: 0 }, requests: 0 };
  let output: JsonObject = {};
  for (;;) {
    if (isAborted(signal)) return { ...course, type: 'ended' };
    const reading = await readOneMessage(model, { messages, tools: [], deadline }, { signal, maxCharacters });
    course = addRequest(course, reading);
    if (reading.type === 'ended' || isAborted(signal)) return { ...course, type: 'ended' };
    if (reading.type !== 'message') return { ...course, type: 'failed', error: modelFailed(model, reading), output };
    if (reading.reason === 'content-filter') return { ...course, type: 'failed', error: withheld(model), output };
    const { text, reason } = reading;
    const isCut = reason === 'length' && !isWhole(text, fields);
    const calls = reason === 'length' ? [] : reading.calls;
    const answer = isCut ? cutOff : readAnswer(program, { text, calls }, extra);
    if (answer.type === 'answer') return { ...course, ...answer, calls };
    ({ output } = answer);
    if (answer.type === 'failed') return { ...course, ...answer };
    if (course.requests === maxRequests)
      return { ...course, type: 'failed', error: unparsable(program, answer), output };
    messages = [...messages, ...correct(text, answer, renderRequest(fields))];
  }
}

/**
 * Validates the input with the signature's schema and fills in defaults.
 *
 * @throws HoldfastError `modules.invalid`.
 */
export function readInput({ signature }: Program, input: unknown): JsonObject {
  const { name, inputSchema } = signature;
  const checked = orInvalid(name, () => compileSchema(inputSchema).validate(copyInput(leaveOutUndefined(input), name)));
  if (!checked.ok) throw inputInvalid(name, describeIssues(checked.issues));
  const values = copyInput(checked.value, name);
  if (!isPlainObject(values)) throw inputInvalid(name, 'it is not an object');
  return values;
}

/** Removes `undefined` members, which stand for absent optional inputs. */
function leaveOutUndefined(input: unknown): unknown {
  if (!isPlainObject(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** Getters of the input and a host's schema are foreign code, which may throw anything. */
function orInvalid<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (thrown) {
    if (isHoldfastError(thrown)) throw thrown;
    throw inputInvalid(name, `checking it failed: ${describeThrown(thrown).slice(0, 2_000)}`, thrown);
  }
}

function copyInput(input: unknown, name: string): Json {
  const copied = copyJson(input);
  if (!copied.ok) throw inputInvalid(name, copied.problem);
  return copied.value;
}

function inputInvalid(name: string, problem: string, cause?: unknown): HoldfastError {
  const reason = problem.replace(/\.$/, '');
  return new HoldfastError('modules.invalid', `The input of \`${name}\` does not match its signature: ${reason}.`, {
    data: { reason: 'input' },
    cause,
  });
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function addRequest({ usage, requests }: AskedCourse, reading: MessageReading): AskedCourse {
  const more = reading.type === 'message' ? reading.usage : undefined;
  return {
    text: reading.text,
    requests: requests + 1,
    usage: {
      inputTokens: usage.inputTokens + (more?.inputTokens ?? 0),
      outputTokens: usage.outputTokens + (more?.outputTokens ?? 0),
    },
  };
}

export function modelFailed(model: Model, reading: Extract<MessageReading, { type: 'threw' | 'wrong' }>): ModuleError {
  if (reading.type === 'wrong') return noAnswer(model, reading.problem);
  const { thrown } = reading;
  // Results of a loop are JSON, so they keep no cause.
  const data = isHoldfastError(thrown) ? { code: thrown.code } : {};
  return noAnswer(model, describeThrown(thrown).slice(0, 2_000), { data, cause: thrown });
}

export function withheld(model: Model): ModuleError {
  return noAnswer(model, 'the content filter of its provider blocked it (`content-filter`). Change the request.');
}

function noAnswer(model: Model, problem: string, options?: ModuleErrorOptions): ModuleError {
  return moduleError('ModelFailed', `The model \`${model.id}\` gave no answer: ${problem}`, options);
}

/** True if the end marker follows a field: nothing is missing, even if the model continued until it was cut off. */
function isWhole(text: string, { outputs }: PromptFields): boolean {
  const said = skipReasoning(text);
  const names = outputs.map(({ name }) => name).join('|');
  const start = said.search(new RegExp(`^[ \\t]*\\[\\[ ## (?:${names}) ## \\]\\]`, 'm'));
  return start !== -1 && /^[ \t]*\[\[ ## completed ## \]\]/m.test(said.slice(start));
}

const cutOff: Unusable = {
  type: 'unusable',
  output: {},
  missing: [],
  problems: [{ field: '', message: 'the answer was too long and was cut off; make it shorter' }],
};

/** The maximum length of an answer that is sent back for correction. */
const maxShown = 20_000;

/** The correction request. */
function correct(text: string, answer: Unusable, request: string): readonly Message[] {
  const problems = describeProblems(answer).map((problem) => `- ${problem}`);
  // Providers reject empty messages.
  const shown = text.trim() === '' ? '(no text)' : text.slice(0, maxShown);
  return [
    { role: 'assistant', text: shown, calls: [] },
    { role: 'user', text: `Your answer cannot be used:\n${problems.join('\n')}\n\n${request}` },
  ];
}

function unparsable({ signature }: Program, answer: Unusable): ModuleError {
  const problems = answer.problems
    .slice(0, maxProblems)
    .map(({ field, message }) => ({ field: field.slice(0, 200), message }));
  return moduleError(
    'OutputUnparsable',
    `The model did not answer with the outputs of \`${signature.name}\`, even after a correction: ${describeProblems(answer).join('; ')}.`,
    { data: { missing: answer.missing, problems } },
  );
}

const maxProblems = 20;

function describeProblems({ missing, problems, note }: Unusable): readonly string[] {
  const found = problems.slice(0, maxProblems).map(({ field, message }) => {
    const told = message.replaceAll(/\s+/g, ' ').slice(0, 500).replace(/\.$/, '');
    return field === '' ? told : `the field \`${field.slice(0, 200)}\`: ${told}`;
  });
  return [
    ...missing.map((name) => `the field \`${name}\` is missing`),
    ...found,
    ...(note === undefined ? [] : [note]),
  ];
}

/** The evaluation of a model's answer. */
export type AnswerReading<Output = unknown> =
  | (Answer & { readonly type: 'answer'; readonly isPartial: false; readonly output: Output })
  /** It requests a tool first. `output` has the outputs that it already contains. */
  | (Answer & { readonly type: 'answer'; readonly isPartial: true; readonly output: JsonObject })
  | Unusable
  /** The signature's schema threw. */
  | { readonly type: 'failed'; readonly error: ModuleError; readonly output: JsonObject };

interface Answer {
  /** Reasoning and extra outputs. */
  readonly extras: JsonObject;
}

/** The `field` of a problem is `name.inner[0]`; empty for the answer itself. */
export interface Unusable extends Omit<ParsedAnswer, 'values'> {
  readonly type: 'unusable';
  /** The outputs that could be read. */
  readonly output: JsonObject;
}

/** Reads an answer and validates its outputs with the signature's schema. */
function readAnswer<Output>(
  program: Program<unknown, Output>,
  { text, calls }: { readonly text: string; readonly calls: readonly ToolCall[] },
  extra?: ExtraFields,
): AnswerReading<Output> {
  const { signature } = program;
  const own = new Set(signature.outputs.map(({ name }) => name));
  const added = new Set(program.outputs.map(({ name }) => name).filter((name) => !own.has(name)));
  const { outputs } = promptFields(program, extra);
  // Missing reasoning does not invalidate an answer.
  const fields = outputs.map((field) => (added.has(field.name) ? { ...field, required: false } : field));
  const { values, ...lacks } = parseAnswer(text, fields);
  const read = Object.entries(values);
  const output = Object.fromEntries(read.filter(([name]) => own.has(name)));
  const extras = Object.fromEntries(read.filter(([name]) => !own.has(name)));
  if (extra !== undefined && (calls.length > 0 || extra.isPartial(values)))
    return { type: 'answer', isPartial: true, output, extras };
  if (lacks.missing.length > 0 || lacks.problems.length > 0) {
    const problems = calls.length === 0 ? lacks.problems : [...lacks.problems, noTools];
    return { ...lacks, problems, type: 'unusable', output };
  }
  const checked = checkOutput(signature, output);
  if (checked.type === 'valid') return { type: 'answer', isPartial: false, output: checked.output, extras };
  if (checked.type === 'failed') return { ...checked, output };
  const problems = checked.issues.map(({ path, message }) => ({ field: path, message }));
  return { type: 'unusable', output, missing: [], problems };
}

const noTools: AnswerProblem = { field: '', message: 'no tools are available here' };
