import { type Clock, HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { readRetryAfterMs } from './retry-after.ts';

/** A provider error, and whether the same request may be retried. */
export interface ModelFailure {
  readonly error: HoldfastError;
  readonly retryable: boolean;
  /** The delay that the provider asks for. */
  readonly retryAfterMs: number | undefined;
}

/** Longest part of a provider's message that is passed on. */
const maxReason = 500;

/**
 * Reads a provider error by its shape (`statusCode`, `responseHeaders`, `isRetryable`, `type`, `code`): copies and
 * versions of the SDK have different classes.
 */
export function toModelFailure(
  thrown: unknown,
  { model, clock }: { readonly model: string; readonly clock: Clock },
): ModelFailure {
  if (isHoldfastError(thrown))
    return { error: thrown, retryable: thrown.code === 'model.failed', retryAfterMs: undefined };
  const facts = readFacts(thrown);
  const { status } = facts;
  const kind = classify(facts);
  const retryAfterMs = readRetryAfterMs(facts.headers, clock);
  const error = new HoldfastError(kind.code, describe(kind.code, { model, status, reason: toReason(thrown, facts) }), {
    data: { status: status ?? null, retryAfterMs: retryAfterMs ?? null },
    cause: thrown,
  });
  return { error, retryable: kind.retryable, retryAfterMs };
}

interface Facts {
  readonly status: number | undefined;
  readonly headers: unknown;
  readonly isRetryable: boolean | undefined;
  /** Error names used by providers and runtimes: `overloaded_error`, `ECONNRESET`, `AI_LoadAPIKeyError`. */
  readonly names: readonly string[];
  readonly message: string;
}

/** Collects facts from the error, the errors it wraps (`error`, `data.error`) and its cause. */
function readFacts(thrown: unknown): Facts {
  const layers = collectLayers(thrown);
  const names = layers.flatMap((layer) => [layer['name'], layer['type'], layer['code'], layer['status']]);
  const find = (key: string, type: string): unknown => layers.find((layer) => typeof layer[key] === type)?.[key];
  // Some providers put the status into the `code` of a stream error.
  const codes = layers
    .map((layer) => layer['code'])
    .filter((code) => typeof code === 'number' && code >= 400 && code < 600);
  return {
    status: (find('statusCode', 'number') ?? codes[0]) as number | undefined,
    headers: find('responseHeaders', 'object'),
    isRetryable: find('isRetryable', 'boolean') as boolean | undefined,
    names: names.filter((name) => typeof name === 'string'),
    message:
      [describeText(thrown), ...layers.map(describeThrown)].find((text) => !text.startsWith('a thrown ')) ??
      describeThrown(thrown),
  };
}

type Layer = Readonly<Record<string, unknown>>;

function collectLayers(thrown: unknown, depth = 4): Layer[] {
  if (typeof thrown !== 'object' || thrown === null || depth === 0) return [];
  const layer = thrown as Layer;
  return [layer, ...['error', 'data', 'cause'].flatMap((key) => collectLayers(layer[key], depth - 1))];
}

function describeText(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : describeThrown(thrown);
}

interface Kind {
  readonly code: `model.${string}`;
  readonly retryable: boolean;
}

const overflow =
  /context.?(?:length|window)|maximum context|prompt is too long|too many (?:input )?tokens|input token count|exceeds the (?:maximum|max)[^.]*token|reduce the length/i;
const networkNames =
  /^(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|EPIPE|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UND_ERR_\w+|TimeoutError)$/;

function classify({ status, isRetryable, names, message }: Facts): Kind {
  const named = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  const isClientError = status !== undefined && status >= 400 && status < 500;
  if (status === 401 || status === 403 || named(/^AI_LoadAPIKeyError$|^authentication_error$|^permission_error$/))
    return { code: 'model.unauthorized', retryable: false };
  if (
    named(/^context_length_exceeded$/) ||
    ((isClientError || status === undefined) && status !== 429 && overflow.test(message))
  )
    return { code: 'model.context_overflow', retryable: false };
  if (status === 429 || named(/^rate_limit|^RESOURCE_EXHAUSTED$|^insufficient_quota$/))
    // Waiting does not refill an empty account.
    return { code: 'model.rate_limited', retryable: isRetryable !== false && !named(/^insufficient_quota$/) };
  if (status === 503 || status === 529 || named(/^overloaded|^UNAVAILABLE$|^server_overloaded$/))
    return { code: 'model.overloaded', retryable: isRetryable !== false };
  if (status === 408 || status === 409) return { code: 'model.failed', retryable: isRetryable !== false };
  if (isClientError || named(/^invalid_request_error$|^AI_InvalidPromptError$|^AI_UnsupportedFunctionalityError$/))
    return { code: 'model.request_invalid', retryable: false };
  const mayPass =
    (status !== undefined && status >= 500) ||
    named(/^server_error$|^api_error$|^INTERNAL$/) ||
    isNetworkError(names, message);
  return { code: 'model.failed', retryable: isRetryable ?? mayPass };
}

function isNetworkError(names: readonly string[], message: string): boolean {
  if (names.some((name) => networkNames.test(name))) return true;
  // The errors of `fetch` in Node.js and browsers for a failed or broken connection.
  return (
    names.includes('TypeError') && /^(?:fetch failed|terminated|Failed to fetch|NetworkError|Load failed)/.test(message)
  );
}

const hints: ReadonlyMap<string, string> = new Map([
  ['model.unauthorized', 'Check that the API key is set, valid and allowed to use this model.'],
  ['model.rate_limited', 'Wait, or raise the limit of the account.'],
  ['model.overloaded', 'Try again later.'],
  [
    'model.context_overflow',
    'The conversation is too long for this model: shorten it, or use a model with a larger context window.',
  ],
  ['model.request_invalid', 'Check the model name and the request.'],
]);

function describe(
  code: string,
  { model, status, reason }: { readonly model: string; readonly status: number | undefined; readonly reason: string },
): string {
  const what = status === undefined ? 'failed' : `answered ${status}`;
  const hint = hints.get(code);
  return `\`${model}\` ${what}${reason === '' ? '' : `: ${reason}`}${hint === undefined ? '' : ` ${hint}`}`;
}

// Keys, by their usual prefixes or by label. Providers quote part of an invalid key.
const secrets =
  /\b(?:(?:sk|pk|rk|gsk|xai|hf|r8)[-_]|AIza)[\w*.-]{8,}|(?:\bBearer\s|(?:\bapi[-_ ]?key(?: provided)?|[?&]key)\s*[=:])\s*[\w*.-]{6,}/gi;

/** The provider's message as one sentence, with keys redacted. */
function toReason(thrown: unknown, { message, names }: Facts): string {
  if (message.startsWith('an unknown error')) return '';
  const text = message.replace(secrets, '<key>').replaceAll(/\s+/g, ' ').trim();
  const cut = text.length <= maxReason ? text : `${text.slice(0, maxReason)}…`;
  const described = cut === '' || cut.startsWith('a thrown ') ? (names[0] ?? '') : cut;
  if (described === '' || typeof thrown === 'symbol') return '';
  return /[.!?…]$/.test(described) ? described : `${described}.`;
}
