import type { Readable } from 'node:stream';
import { usageError } from './failure.ts';
import type { Host } from './host.ts';

const maxBytes = 16 * 1024 * 1024;

/**
 * Returns `argument`, or for `-` the request from standard input: UTF-8 text of at most 16 MiB.
 *
 * @throws HoldfastError `usage.invalid` (`request_empty`, `request_too_large`, `request_not_text`).
 */
export async function readRequest(
  argument: string,
  { stdin, stderr }: Pick<Host, 'stdin' | 'stderr'>,
): Promise<string> {
  if (argument === '-' && stdin.isTTY === true) stderr.write('Type the request, then press Ctrl-D on an empty line.\n');
  const request = argument === '-' ? await readText(stdin) : { text: argument };
  if ('text' in request) {
    if (request.text.trim() !== '') return request.text;
    throw usageError('request_empty', 'The request is empty: say what to do.');
  }
  throw request.problem === 'not-text'
    ? usageError('request_not_text', 'Standard input is not UTF-8 text.')
    : usageError(
        'request_too_large',
        `The request on standard input is larger than ${maxBytes} bytes: put long content in a workspace file.`,
      );
}

/** Reads UTF-8 text of at most 16 MiB from a stream. */
export async function readText(
  source: Readable,
): Promise<{ readonly text: string } | { readonly problem: 'too-large' | 'not-text' }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) return { problem: 'too-large' };
    chunks.push(bytes);
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    // The only reason to throw.
    return { problem: 'not-text' };
  }
}
