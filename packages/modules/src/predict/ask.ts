import {
  copyJson,
  type Deadline,
  describeThrown,
  HoldfastError,
  isHoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  type Message,
  type Model,
  type ModelUsage,
  type ToolCall,
} from '@holdfast/core';
import { type MessageReading, readOneMessage } from '@holdfast/executor';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { type ModuleError, type ModuleErrorOptions, moduleError } from '../signature/problems.ts';
import type { Program } from '../signature/program.ts';
import { checkOutput } from '../signature/signature.ts';
import { type AnswerProblem, type ParsedAnswer, parseAnswer, skipReasoning } from './parse-answer.ts';
import { type ExtraFields, type PromptFields, promptFields, renderProgram, renderRequest } from './render.ts';

export interface AskProgramOptions {
  readonly model: Model;
  readonly signal?: AbortSignal | undefined;
  /** Passed on to the model: whoever sets it lets `signal` fire then. */
  readonly deadline?: Deadline | undefined;
  readonly extra?: ExtraFields | undefined;
}

/** What came of asking a model for the outputs of a program. */
export type AskedProgram<Output = JsonObject> = AskedCourse &
  (
    | (Extract<AnswerReading<Output>, { readonly type: 'answer' }> & {
        /** That the model sent on its own; none were offered. Not of a message that was cut off. */
        readonly calls: readonly ToolCall[];
      })
    /** `output` is what could be read of the outputs. */
    | { readonly type: 'failed'; readonly error: ModuleError; readonly output: JsonObject }
    /** By its signal. */
    | { readonly type: 'ended' }
  );

interface AskedCourse {
  /** Of the last answer, or what had come of it. */
  readonly text: string;
  /** Of all requests together. */
  readonly usage: ModelUsage;
  readonly requests: number;
}

/** A longer answer is a failure, and is not read to its end. */
const maxCharacters = 1_000_000;
/** The first, and one that corrects it. */
const maxRequests = 2;

/**
 * Asks the model, and once more where its answer cannot be used. What the model does is an answer, and a model that ignores the signal
 * is not waited for.
 *
 * @throws HoldfastError `modules.input_invalid`: the promise rejects, and the model was not asked.
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
 * Checked by the signature's schema, with its defaults.
 *
 * @throws HoldfastError `modules.input_invalid`.
 */
export function readInput({ signature }: Program, input: unknown): JsonObject {
  const { name, inputSchema } = signature;
  const checked = orInvalid(name, () => compileSchema(inputSchema).validate(copyInput(leaveOutUndefined(input), name)));
  if (!checked.ok) throw inputInvalid(name, describeIssues(checked.issues));
  const values = copyInput(checked.value, name);
  if (!isPlainObject(values)) throw inputInvalid(name, 'it is no object');
  return values;
}

/** An optional input may be given as `undefined`. */
function leaveOutUndefined(input: unknown): unknown {
  if (!isPlainObject(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** What an input does when it is read, and the schema of a host, is code of the host. */
function orInvalid<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (thrown) {
    if (isHoldfastError(thrown)) throw thrown;
    throw inputInvalid(name, `it cannot be checked: ${describeThrown(thrown).slice(0, 2_000)}`, thrown);
  }
}

function copyInput(input: unknown, name: string): Json {
  const copied = copyJson(input);
  if (!copied.ok) throw inputInvalid(name, copied.problem);
  return copied.value;
}

function inputInvalid(name: string, problem: string, cause?: unknown): HoldfastError {
  const reason = problem.replace(/\.$/, '');
  return new HoldfastError('modules.input_invalid', `The input of \`${name}\` does not fit its signature: ${reason}.`, {
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
  // A result of a loop keeps no cause.
  const data = isHoldfastError(thrown) ? { code: thrown.code } : {};
  return noAnswer(model, describeThrown(thrown).slice(0, 2_000), { data, cause: thrown });
}

export function withheld(model: Model): ModuleError {
  return noAnswer(model, 'its provider withheld it (`content-filter`). Ask for something else.');
}

function noAnswer(model: Model, problem: string, options?: ModuleErrorOptions): ModuleError {
  return moduleError('modules.model_failed', `The model \`${model.id}\` gave no answer: ${problem}`, options);
}

/** Whether the end marker stands behind a field: then nothing is missing, also where the model went on until it was cut off. */
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
  problems: [{ field: '', message: 'the answer was cut off, because it was too long; it has to be shorter' }],
};

/** Of an answer that is sent back to be corrected. */
const maxShown = 20_000;

/** What the model is told of its answer. */
function correct(text: string, answer: Unusable, request: string): readonly Message[] {
  const problems = describeProblems(answer).map((problem) => `- ${problem}`);
  // No provider takes an empty message.
  const shown = text.trim() === '' ? '(no text)' : text.slice(0, maxShown);
  return [
    { role: 'assistant', text: shown, calls: [] },
    { role: 'user', text: `That answer cannot be used:\n${problems.join('\n')}\n\n${request}` },
  ];
}

function unparsable({ signature }: Program, answer: Unusable): ModuleError {
  const problems = answer.problems
    .slice(0, maxProblems)
    .map(({ field, message }) => ({ field: field.slice(0, 200), message }));
  return moduleError(
    'modules.output_unparsable',
    `The model did not answer with the outputs of \`${signature.name}\`, also when it was asked again: ${describeProblems(answer).join('; ')}.`,
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

/** What an answer of a model is worth. */
export type AnswerReading<Output = unknown> =
  | (Answer & { readonly type: 'answer'; readonly isPartial: false; readonly output: Output })
  /** It asks for something first. `output` is what it has of the outputs, as read. */
  | (Answer & { readonly type: 'answer'; readonly isPartial: true; readonly output: JsonObject })
  | Unusable
  /** The signature's schema threw. */
  | { readonly type: 'failed'; readonly error: ModuleError; readonly output: JsonObject };

interface Answer {
  /** Reasoning and extra outputs, as read. */
  readonly extras: JsonObject;
}

/** A `field` of the problems is `name.inner[0]`; empty for the answer itself. */
export interface Unusable extends Omit<ParsedAnswer, 'values'> {
  readonly type: 'unusable';
  /** What could be read of the outputs. */
  readonly output: JsonObject;
}

/** Reads the text of an answer, and holds its outputs to the signature's schema. */
function readAnswer<Output>(
  program: Program<unknown, Output>,
  { text, calls }: { readonly text: string; readonly calls: readonly ToolCall[] },
  extra?: ExtraFields,
): AnswerReading<Output> {
  const { signature } = program;
  const own = new Set(signature.outputs.map(({ name }) => name));
  const added = new Set(program.outputs.map(({ name }) => name).filter((name) => !own.has(name)));
  const { outputs } = promptFields(program, extra);
  // An answer is not refused for want of the reasoning before it.
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

const noTools: AnswerProblem = { field: '', message: 'there are no tools to call here' };
