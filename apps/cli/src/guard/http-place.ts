import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { writeText } from './files.ts';

/** Where a user's daemon listens for hooks of the type `http`, and the token in their settings. Both stay for good. */
export interface HttpPlace {
  readonly port: number;
  readonly token: string;
}

export const httpPathPrefix = '/holdfast/';

function placePath(host: GuardHost): string {
  return join(guardFolder(host), 'http.json');
}

/** `undefined` where no hook needs it. */
export function readHttpPlace(host: GuardHost): HttpPlace | undefined {
  let text: string;
  try {
    text = readFileSync(placePath(host), 'utf8');
  } catch {
    // None, or one that cannot be read: no answer, which denies.
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isPlainObject(parsed.value)) return undefined;
  const { port, token } = parsed.value;
  return typeof port === 'number' && typeof token === 'string' && token.length >= 32 ? { port, token } : undefined;
}

/** The place of earlier installations, or a new one at a free port. */
export async function makeHttpPlace(host: GuardHost): Promise<HttpPlace> {
  const known = readHttpPlace(host);
  if (known !== undefined) return known;
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const place = { port, token: randomBytes(16).toString('hex') };
  await writeText(placePath(host), `${JSON.stringify(place)}\n`);
  return place;
}

export async function forgetHttpPlace(host: GuardHost): Promise<void> {
  await rm(placePath(host), { force: true });
}

/** The fields of a hook of the type `http`. A token in the environment instead would reach every command of the agent. */
export function toHttpHook(
  agent: string,
  { port, token }: HttpPlace,
): { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = `http://127.0.0.1:${port}${httpPathPrefix}${agent}`;
  return { type: 'http', url, headers: { Authorization: `Bearer ${token}` } };
}

export function isHttpHookUrl(text: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d+\/holdfast\/[a-z-]+(?:\?|$)/.test(text);
}
