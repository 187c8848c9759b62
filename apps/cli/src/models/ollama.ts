import { isPlainObject, parseJson } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';

const addressVariable = 'OLLAMA_HOST';
const ownPort = '11434';
/** It is on this machine: what takes longer is not there. */
const longestMs = 200;

/** An Ollama that answers, and its newest model that writes. */
export interface FoundOllama {
  readonly address: string;
  /** `undefined`: nothing was pulled. */
  readonly model: string | undefined;
}

/**
 * Where Ollama is, by its own variable `OLLAMA_HOST`, as `http://127.0.0.1:11434`: that is also what it is without the variable. An address
 * to listen at everywhere stands for this machine. `undefined`: the variable says nothing that can be understood.
 */
export function findOllamaAddress(environment: Host['environment']): string | undefined {
  const text = environment[addressVariable]?.trim().replace(/^(['"])(.*)\1$/, '$2') ?? '';
  const isUrl = /^https?:\/\//i.test(text);
  try {
    const url = new URL(isUrl ? text : `http://${text === '' || text.startsWith(':') ? `127.0.0.1${text}` : text}`);
    // A URL drops the port 80, which may have been meant.
    if (!isUrl && !/:\d+(?:\/|$)/.test(text)) url.port = ownPort;
    if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
    if (url.hostname === '[::]') url.hostname = '[::1]';
    return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
  } catch {
    // No URL: that is all it can throw for.
    return undefined;
  }
}

/** Asks once; `undefined` where none answers in time, and for one on another machine, which is not asked. */
export async function findOllama({
  environment,
  fetch,
}: Pick<Host, 'environment' | 'fetch'>): Promise<FoundOllama | undefined> {
  const address = findOllamaAddress(environment);
  if (address === undefined || !isLoopback(new URL(address).hostname)) return undefined;
  try {
    const response = await fetch(`${address}/api/tags`, { signal: AbortSignal.timeout(longestMs), redirect: 'error' });
    if (!response.ok) return undefined;
    const answer = parseJson(await response.text());
    const models = answer.ok && isPlainObject(answer.value) ? answer.value['models'] : undefined;
    return Array.isArray(models) ? { address, model: models.map(nameOf).find(canWrite) } : undefined;
  } catch {
    // Nobody listens, or it is something else.
    return undefined;
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function nameOf(model: unknown): string {
  const name = isPlainObject(model) ? model['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** What listens there may be anything. */
function canWrite(name: string): boolean {
  return /^[\w.:/-]{1,200}$/.test(name) && !/embed/i.test(name);
}
