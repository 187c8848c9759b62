import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HoldfastError } from '@holdfast/core';

/** Names of this machine, with any port: somebody may have forwarded one. */
const ownHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * Lets programs of this machine through. Any page in a browser can send requests here, also under a name of its own that it has made
 * to mean this machine: such requests are refused before anything of them is read.
 *
 * @throws HoldfastError `serve.caller_refused`, `serve.key_wrong`.
 */
export function checkCaller(headers: IncomingHttpHeaders, key: string | undefined): void {
  const { host = '', origin, 'sec-fetch-site': site, authorization = '' } = headers;
  if (!ownHost.test(host)) {
    throw new HoldfastError(
      'serve.caller_refused',
      'The header `Host` names another machine: call this server as 127.0.0.1, localhost or [::1].',
    );
  }
  if (origin !== undefined || site === 'cross-site' || site === 'same-site') {
    throw new HoldfastError(
      'serve.caller_refused',
      'This server does not answer pages in a browser: call it from a program.',
    );
  }
  if (key !== undefined && !isSame(authorization, `Bearer ${key}`)) {
    throw new HoldfastError(
      'serve.key_wrong',
      'This server wants a key, and got none or another: send `Authorization: Bearer` with what its variable `HOLDFAST_SERVER_KEY` says.',
    );
  }
}

/** Takes as long wherever they differ. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
