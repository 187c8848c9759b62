import { isPlainObject, parseJson } from '@holdfast/core/internal';
import type { Host } from '../terminal/host.ts';

const addressVariable = 'OLLAMA_HOST';
const ownPort = '11434';
/** A local server responds within this time. */
const longestMs = 200;

/** An Ollama server that responds, and its newest generative model. */
export interface FoundOllama {
  readonly address: string;
  /** `undefined`: no models are pulled. */
  readonly model: string | undefined;
}

/**
 * The URL of Ollama from `OLLAMA_HOST`, by default `http://127.0.0.1:11434`. A wildcard address stands for this machine. `undefined` if
 * the variable is invalid.
 */
export function findOllamaAddress(environment: Host['environment']): string | undefined {
  const text = environment[addressVariable]?.trim().replace(/^(['"])(.*)\1$/, '$2') ?? '';
  const isUrl = /^https?:\/\//i.test(text);
  try {
    const url = new URL(isUrl ? text : `http://${text === '' || text.startsWith(':') ? `127.0.0.1${text}` : text}`);
    // URL drops port 80, so an explicit port is checked in the text.
    if (!isUrl && !/:\d+(?:\/|$)/.test(text)) url.port = ownPort;
    if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
    if (url.hostname === '[::]') url.hostname = '[::1]';
    return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
  } catch {
    // The only error is an invalid URL.
    return undefined;
  }
}

/** Asks once; `undefined` without a timely response. Servers on other machines are not asked. */
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
    // Nothing listens there, or not Ollama.
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

/** The server may return any name. */
function canWrite(name: string): boolean {
  return /^[\w.:/-]{1,200}$/.test(name) && !/embed/i.test(name);
}
