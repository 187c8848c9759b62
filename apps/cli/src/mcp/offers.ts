import { join } from 'node:path';
import { isPlainObject, sha256 } from '@holdfast/core/internal';
import type { McpStart } from '@holdfast/mcp';
import { readText, writeText } from '../guard/files.ts';
import type { Host } from '../terminal/host.ts';
import { guardFolder } from '../user/guard-folder.ts';
import { findProject, type ServerEntry, type ServerName } from './pins.ts';

type OfferHost = Pick<Host, 'environment' | 'directory'>;

/** Remembers how a client wanted to start a server that was held back, for a person to look at. */
export async function writeOffer({ start, ...entry }: ServerEntry, host: OfferHost): Promise<void> {
  await writeText(offerPath(entry, host), `${JSON.stringify(start)}\n`);
}

/** How a client last wanted to start a server; `undefined`: no client did. */
export async function readOffer(entry: ServerName, host: OfferHost): Promise<McpStart | undefined> {
  const text = await readText(offerPath(entry, host));
  try {
    const start: unknown = text === undefined ? undefined : JSON.parse(text);
    return isStart(start) ? start : undefined;
  } catch {
    // It is written again when the client starts the server.
    return undefined;
  }
}

function isStart(value: unknown): value is McpStart {
  if (!isPlainObject(value)) return false;
  const { command, args, environment, url, headers } = value;
  return typeof url === 'string'
    ? areTexts(headers)
    : typeof command === 'string' && areTexts(args) && areTexts(environment);
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function offerPath({ name, user }: ServerName, host: OfferHost): string {
  const digest = sha256(JSON.stringify([name, user ? null : findProject(host)])).slice(0, 24);
  return join(guardFolder(host), 'mcp', `${digest}.json`);
}
