import { HoldfastError } from '@holdfast/core';

/** What is asked of a server. */
export interface FileRequest {
  readonly url: string;
  /** Bytes that are there already, of the file that `validator` stands for; 0: the whole file. */
  readonly fromByte: number;
  readonly validator: string | null;
  readonly signal: AbortSignal;
}

export type FileReply =
  /** The file from its beginning, whatever was asked for. */
  | {
      readonly type: 'whole';
      /** `undefined` when the server does not say. */
      readonly totalBytes: number | undefined;
      readonly validator: string | null;
      readonly body: AsyncIterable<Uint8Array>;
    }
  /** What was missing. */
  | { readonly type: 'rest'; readonly totalBytes: number; readonly body: AsyncIterable<Uint8Array> }
  /** The range cannot be had: it has to be the whole file. */
  | { readonly type: 'no-range' }
  /** Later it may do it. */
  | { readonly type: 'later'; readonly status: number; readonly retryAfterMs: number };

const maxRedirects = 10;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Asks for a file, or for the rest of it.
 *
 * @throws HoldfastError `download.missing`, `download.denied`, `download.failed`, `download.redirect_refused`; and what `fetch` throws.
 */
export async function requestFile({ url, fromByte, validator, signal }: FileRequest): Promise<FileReply> {
  // Bytes as they are: a range of something packed would be of no use.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (fromByte > 0 && validator !== null)
    Object.assign(headers, { range: `bytes=${fromByte}-`, 'if-range': validator });
  const response = await follow(url, { headers, signal });
  const { status, body } = response;
  if (status === 200 && body !== null) {
    return { type: 'whole', totalBytes: readLength(response), validator: readValidator(response), body };
  }
  if (status === 206 && fromByte > 0 && body !== null && !hasOtherTag(response, validator)) {
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
    if (Number(range?.[1]) === fromByte) return { type: 'rest', totalBytes: Number(range?.[2]), body };
  }
  await body?.cancel();
  if ((status === 206 || status === 416) && fromByte > 0) return { type: 'no-range' };
  if (passing.has(status)) return { type: 'later', status, retryAfterMs: readRetryAfter(response) };
  throw refused(status, url);
}

function refused(status: number, url: string): HoldfastError {
  const { host } = new URL(url);
  const data = { status, url };
  if (status === 404 || status === 410)
    return new HoldfastError('download.missing', `\`${host}\` has no such file (${status}): \`${url}\`.`, { data });
  if (status === 401 || status === 403) {
    return new HoldfastError(
      'download.denied',
      `\`${host}\` does not give the file to everybody (${status}): \`${url}\`. Download it yourself, and run it with \`local:FILE\`.`,
      { data },
    );
  }
  return new HoldfastError('download.failed', `\`${host}\` answered ${status} for \`${url}\`.`, { data });
}

interface Asking {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

async function follow(first: string, { headers, signal }: Asking): Promise<Response> {
  let url = first;
  for (let count = 0; ; count += 1) {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (!redirects.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    const problem =
      count === maxRedirects
        ? `leads on more than ${maxRedirects} times`
        : next === undefined || !isSafeAddress(next, new URL(first))
          ? `leads on to \`${location}\`, which is no https address`
          : undefined;
    if (problem !== undefined || next === undefined) {
      throw new HoldfastError('download.redirect_refused', `\`${first}\` ${problem}.`, {
        data: { url: first, location },
      });
    }
    url = next.href;
  }
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https; or http on this machine, where the `first` address was so, too: a server elsewhere cannot send anybody there. */
export function isSafeAddress(url: URL, first: URL = url): boolean {
  if (url.username !== '' || url.password !== '') return false;
  const isOwn = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && loopback.test(hostname);
  return url.protocol === 'https:' || (isOwn(url) && isOwn(first));
}

function readLength({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  // Of something packed it is the length of the package.
  const isPlain = (headers.get('content-encoding') ?? 'identity') === 'identity';
  return isPlain && length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** What `If-Range` takes: an entity tag that is not weak, else a date. */
function readValidator({ headers }: Response): string | null {
  const tag = headers.get('etag');
  return tag?.startsWith('"') === true ? tag : headers.get('last-modified');
}

/** Of a server that knows ranges and not `If-Range`. */
function hasOtherTag({ headers }: Response, validator: string | null): boolean {
  const tag = headers.get('etag');
  return tag !== null && validator?.startsWith('"') === true && tag !== validator;
}

const maxRetryAfterMs = 60_000;

function readRetryAfter({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, maxRetryAfterMs) : 0;
}
