import type { IncomingMessage } from 'node:http';
import { HoldfastError, type Json, parseJson } from '@holdfast/core';

const maxBytes = 4 * 1024 * 1024;
const limits = { maxDepth: 64, maxKeys: 100_000 };

/**
 * The JSON that a client has sent.
 *
 * @throws HoldfastError `serve.body_not_json`, `serve.body_too_large`, `serve.body_malformed`; what the connection breaks off with.
 */
export async function readBody(request: IncomingMessage): Promise<Json> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new HoldfastError('serve.body_not_json', 'The body must be sent with `Content-Type: application/json`.');
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Else leaving the loop would close the connection before the client has read why.
  const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const parsed = parseJson(decode(Buffer.concat(chunks)), limits);
  if (parsed.ok) return parsed.value;
  throw new HoldfastError('serve.body_malformed', `The body cannot be taken: ${parsed.problem}.`);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError('serve.body_malformed', 'The body cannot be taken: it is not UTF-8 text.', { cause });
  }
}

function tooLarge(): HoldfastError {
  return new HoldfastError('serve.body_too_large', `The body must be at most ${maxBytes} bytes.`);
}
