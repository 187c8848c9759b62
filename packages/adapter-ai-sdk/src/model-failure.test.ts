import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { aiSdkModel } from './ai-sdk-model.ts';
import { collect, fakeModel, finish, text } from './fixtures.ts';

/** The shape of the SDK's `APICallError`. */
function apiError(statusCode: number | undefined, message = 'no', more: object = {}): Error {
  return Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, ...more });
}

async function failWith(thrown: unknown): Promise<HoldfastError> {
  const model = aiSdkModel(fakeModel([{ throws: thrown }]), { maxRetries: 0 });
  const error = await collect(model).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isHoldfastError(error)) throw new Error('Expected a HoldfastError.', { cause: error });
  return error;
}

test.each<[string, unknown]>([
  ['model.unauthorized', apiError(401)],
  ['model.unauthorized', apiError(403)],
  ['model.unauthorized', Object.assign(new Error('The key is missing.'), { name: 'AI_LoadAPIKeyError' })],
  ['model.unauthorized', { type: 'authentication_error', message: 'invalid' }],
  ['model.rate_limited', apiError(429)],
  ['model.rate_limited', apiError(429, 'Request too large: too many tokens per minute')],
  ['model.rate_limited', { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }],
  ['model.rate_limited', apiError(undefined, 'quota', { data: { error: { code: 'insufficient_quota' } } })],
  ['model.overloaded', apiError(503)],
  ['model.overloaded', apiError(529)],
  ['model.overloaded', { type: 'overloaded_error', message: 'Overloaded' }],
  ['model.overloaded', { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }],
  ['model.context_overflow', apiError(400, "This model's maximum context length is 8192 tokens.")],
  ['model.context_overflow', apiError(400, 'prompt is too long: 200001 tokens > 200000 maximum')],
  [
    'model.context_overflow',
    apiError(413, 'The input token count (1200000) exceeds the maximum number of tokens allowed'),
  ],
  ['model.context_overflow', apiError(400, 'no', { data: { error: { code: 'context_length_exceeded' } } })],
  ['model.request_invalid', apiError(400)],
  ['model.request_invalid', apiError(404, 'The model `gpt-0` does not exist')],
  ['model.request_invalid', apiError(422)],
  ['model.request_invalid', { type: 'invalid_request_error', message: 'bad' }],
  ['model.failed', apiError(500, 'maximum context length')],
  ['model.failed', apiError(408)],
  ['model.failed', new TypeError('x is not a function')],
  ['model.failed', 'overheated'],
  ['model.failed', undefined],
  ['model.failed', Symbol('odd')],
])('%s for %o', async (code, thrown) => {
  expect((await failWith(thrown)).code).toBe(code);
});

test.each([
  [{ 'retry-after': '3' }, 3_000],
  [{ 'Retry-After': '0.5' }, 500],
  [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{}, null],
  [undefined, null],
])('the headers %j give a delay of %s ms', async (responseHeaders, retryAfterMs) => {
  const error = await failWith(apiError(429, 'no', { responseHeaders }));
  expect(error.data).toEqual({ status: 429, retryAfterMs });
});

test('an error without a status has a null status and keeps its cause', async () => {
  const thrown = new Error('odd');
  const error = await failWith(thrown);
  expect(error.data).toEqual({ status: null, retryAfterMs: null });
  expect(error.cause).toBe(thrown);
});

test.each([
  [apiError(429, 'Slow down'), '`fake:one` answered 429: Slow down. Wait, or raise the limit of the account.'],
  [apiError(400, 'Bad tool.'), '`fake:one` answered 400: Bad tool. Check the model name and the request.'],
  [{ type: 'overloaded_error' }, '`fake:one` failed: overloaded_error. Try again later.'],
  ['overheated', '`fake:one` failed: overheated.'],
  [Symbol('odd'), '`fake:one` failed'],
])('%o is described as %s', async (thrown, message) => {
  expect((await failWith(thrown)).message).toBe(message);
});

test.each([
  'Incorrect API key provided: sk-proj-abcdefghijklmnop. Find yours at the dashboard.',
  'Incorrect API key provided: short-key.',
  'The header `Authorization: Bearer abcdef.ghijkl` was refused.',
  'API key not valid: AIzaSyA1234567890abcdefghijkl',
  'https://example.org/v1?key=abcdef123456 answered nothing',
])('a key in %j is redacted from the message', async (message) => {
  const { message: told } = await failWith(apiError(401, message));
  expect(told).toContain('<key>');
  expect(told).not.toMatch(/abcdef|ghijkl|short-key/);
});

test('a long reason is cut, without a stack', async () => {
  const { message } = await failWith(apiError(400, `x${'y'.repeat(5_000)}`));
  expect(message.length).toBeLessThan(700);
  const { message: other } = await failWith(new Error('odd'));
  expect(other).not.toContain('at ');
});

test('an error part of the stream is thrown, even after text', async () => {
  const events: unknown[] = [];
  const model = aiSdkModel(
    fakeModel([[...text('so far'), { type: 'error', error: { type: 'overloaded_error' } }, finish('v4', 'error')]]),
  );
  const reading = async (): Promise<void> => {
    for await (const event of model.stream({ messages: [], tools: [], signal: new AbortController().signal }))
      events.push(event);
  };
  await expect(reading()).rejects.toMatchObject({ code: 'model.overloaded' });
  expect(events).toEqual([{ type: 'text-delta', text: 'so far' }]);
});

test.each([
  [[], 'ended before its message was complete'],
  [[finish('v4', 'error')], 'reported an error instead of completing its message'],
  [[finish('v2', 'error')], 'reported an error instead of completing its message'],
])('an incomplete message is an error', async (reply, message) => {
  const model = aiSdkModel(fakeModel([reply]), { maxRetries: 0 });
  await expect(collect(model)).rejects.toMatchObject({
    code: 'model.failed',
    message: expect.stringContaining(message),
    data: { status: null, retryAfterMs: null },
  });
});

test('a HoldfastError thrown by a model is passed on unchanged', async () => {
  const error = new HoldfastError('budget.spent', 'No money.');
  expect(await failWith(error)).toBe(error);
});
