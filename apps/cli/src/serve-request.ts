import { HoldfastError, type JsonObject, type ModelRequest } from '@holdfast/core';
import {
  type Fields,
  fail,
  invalid,
  isAbsent,
  readBodyFields,
  readFields,
  readFlag,
  readString,
  unsupported,
} from './serve-fields.ts';
import { readMessages } from './serve-messages.ts';
import { readObjectSchema, readTools } from './serve-tools.ts';

/** A request for a chat completion, as far as it is carried out here. */
export interface ChatRequest {
  /** `undefined`: whichever there is. */
  readonly model: string | undefined;
  readonly asked: Pick<ModelRequest, 'messages' | 'tools' | 'output' | 'maxTokens'>;
  /** Whether a message without a call is none. */
  readonly mustCall: boolean;
  /** Whether only the first call of a message is wanted. */
  readonly onlyOneCall: boolean;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** What is read. */
const carriedOut: ReadonlySet<string> = new Set([
  ...[
    'model',
    'messages',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'stream',
    'stream_options',
  ],
  ...['max_tokens', 'max_completion_tokens'],
]);

/** Wishes about how a model samples or is billed: an answer without them is an answer. */
const ignored: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'frequency_penalty', 'presence_penalty', 'repetition_penalty'],
  ...[
    'repeat_penalty',
    'reasoning_effort',
    'verbosity',
    'prediction',
    'user',
    'safety_identifier',
    'metadata',
    'store',
  ],
  ...['service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'cache_prompt'],
]);

/** What would change the answer, and the values with which it does not. */
const neutral: ReadonlyMap<string, readonly string[]> = new Map([
  ['n', ['1']],
  ['stop', ['[]']],
  ['logprobs', ['false']],
  ['top_logprobs', ['0']],
  ['logit_bias', ['{}']],
  ['modalities', ['["text"]']],
  ['audio', []],
  ['web_search_options', []],
  ['functions', ['[]']],
  ['function_call', []],
]);

/**
 * Reads the body of a request for a chat completion.
 *
 * @throws HoldfastError `serve.request_invalid`, `serve.parameter_unknown`, `serve.parameter_unsupported`.
 */
export function readChatRequest(value: unknown): ChatRequest {
  const body = readBodyFields(value);
  // It is an object, as has been looked at.
  for (const name of Object.keys(value as object)) checkParameter(name, body);
  const model = body('model');
  const stream = readFlag(body('stream'), false);
  const { tools, mustCall } = readTools(body);
  return {
    model: isAbsent(model) ? undefined : readString(model),
    asked: {
      messages: readMessages(body('messages')),
      tools,
      output: readOutput(body),
      maxTokens: readMaxTokens(body),
    },
    mustCall,
    onlyOneCall: !readFlag(body('parallel_tool_calls'), true),
    stream,
    includeUsage: readIncludeUsage(body, stream),
  };
}

function checkParameter(name: string, body: Fields): void {
  const field = body(name);
  if (carriedOut.has(name) || ignored.has(name) || isAbsent(field)) return;
  const values = neutral.get(name);
  if (values === undefined) {
    const param = name.slice(0, 100);
    throw new HoldfastError(
      'serve.parameter_unknown',
      `There is no parameter ${JSON.stringify(param)} of a chat completion here: leave it out.`,
      { data: { param } },
    );
  }
  if (values.includes(JSON.stringify(field.value))) return;
  const instead = values.length === 0 ? 'leave it out' : `leave it out, or send ${values.join(' or ')}`;
  throw unsupported(
    name,
    `\`${name}\` is not carried out here, and without it the answer would be another: ${instead}.`,
  );
}

/** The old name counts where the new one is not there. */
function readMaxTokens(body: Fields): number | undefined {
  const given = body('max_completion_tokens');
  const field = isAbsent(given) ? body('max_tokens') : given;
  if (isAbsent(field)) return undefined;
  const count = Number(field.value);
  return Number.isSafeInteger(field.value) && count >= 1 ? count : fail(field, 'a whole number from 1 on');
}

function readIncludeUsage(body: Fields, isStream: boolean): boolean {
  const options = body('stream_options');
  if (isAbsent(options)) return false;
  if (!isStream) throw invalid(options.path, '`stream_options` is only for requests with `stream: true`.');
  return readFlag(readFields(options)('include_usage'), false);
}

const anyObject: JsonObject = { type: 'object' };

/** The JSON Schema of the answer, where it has to be JSON. */
function readOutput(body: Fields): JsonObject | undefined {
  if (isAbsent(body('response_format'))) return undefined;
  const format = readFields(body('response_format'));
  switch (format('type').value) {
    case 'text':
      return undefined;
    case 'json_object':
      return anyObject;
    case 'json_schema':
      return readObjectSchema(readFields(format('json_schema'))('schema'));
    default:
      return fail(format('type'), '`text`, `json_object` or `json_schema`');
  }
}
