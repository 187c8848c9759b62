import { isHoldfastError, isPlainObject } from '@holdfast/core';

/** An error as a response: OpenAI's shape, which its clients turn into their own errors. */
export interface ApiFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
  /** Whether it is hidden from the client, and the server's own people have to be told. */
  readonly isHidden: boolean;
}

interface Kind {
  readonly status: number;
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
  readonly as: string;
}

function refusal(status: number, as: string): Kind {
  return { status, type: 'invalid_request_error', as };
}

/** Whose messages are made for clients. What is not here may say anything. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ['serve.request_invalid', refusal(400, 'invalid_value')],
  ['serve.parameter_unknown', refusal(400, 'unknown_parameter')],
  ['serve.parameter_unsupported', refusal(400, 'unsupported_parameter')],
  ['serve.tools_unsupported', refusal(400, 'unsupported_parameter')],
  ['serve.body_malformed', refusal(400, 'invalid_json')],
  ['serve.body_too_large', refusal(413, 'request_too_large')],
  ['serve.body_not_json', refusal(415, 'unsupported_media_type')],
  ['serve.key_wrong', refusal(401, 'invalid_api_key')],
  ['serve.caller_refused', refusal(403, 'forbidden')],
  ['serve.route_unknown', refusal(404, 'unknown_url')],
  ['serve.model_unknown', refusal(404, 'model_not_found')],
  ['serve.method_refused', refusal(405, 'method_not_allowed')],
  // Not 500, after which clients send the same again.
  ['serve.call_missing', refusal(422, 'tool_call_missing')],
  ['serve.closing', { status: 503, type: 'server_error', as: 'server_closing' }],
  ['model.context_overflow', refusal(400, 'context_length_exceeded')],
  ['model.request_invalid', refusal(400, 'model_request_invalid')],
  ['model.rate_limited', { status: 429, type: 'rate_limit_error', as: 'rate_limit_exceeded' }],
  ['model.overloaded', { status: 503, type: 'server_error', as: 'model_overloaded' }],
  ['model.unauthorized', { status: 500, type: 'server_error', as: 'model_unauthorized' }],
]);

/** What a client is told of something thrown: no stack, no path of this machine. */
export function toApiFailure(thrown: unknown): ApiFailure {
  const kind = isHoldfastError(thrown) ? kinds.get(thrown.code) : undefined;
  if (kind === undefined || !isHoldfastError(thrown)) {
    const message = 'The model failed. What went wrong is written where the server runs.';
    return {
      status: 500,
      headers: {},
      error: { message, type: 'server_error', param: null, code: 'model_failed' },
      isHidden: true,
    };
  }
  const data = isPlainObject(thrown.data) ? thrown.data : {};
  const { param, allow, retryAfterMs } = data;
  return {
    status: kind.status,
    headers: {
      ...(typeof allow === 'string' ? { allow } : {}),
      ...(typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } : {}),
    },
    error: {
      message: thrown.message,
      type: kind.type,
      param: typeof param === 'string' ? param : null,
      code: kind.as,
    },
    isHidden: false,
  };
}
