import type { Readable } from 'node:stream';
import { usageError } from './failure.ts';
import type { Host } from './host.ts';

const maxBytes = 16 * 1024 * 1024;

/**
 * The request that `argument` is, or with `-` the one on standard input: UTF-8 text of at most 16 MiB.
 *
 * @throws HoldfastError `usage.request_empty`, `usage.request_too_large`, `usage.request_not_text`.
 */
export async function readRequest(
  argument: string,
  { stdin, stderr }: Pick<Host, 'stdin' | 'stderr'>,
): Promise<string> {
  if (argument === '-' && stdin.isTTY === true)
    stderr.write('Type the request, and end it with Ctrl-D on a line of its own.\n');
  const request = argument === '-' ? await readText(stdin) : { text: argument };
  if ('text' in request) {
    if (request.text.trim() !== '') return request.text;
    throw usageError('usage.request_empty', 'The request is empty: say what to do.');
  }
  throw request.problem === 'not-text'
    ? usageError('usage.request_not_text', 'What came on standard input is not UTF-8 text.')
    : usageError(
        'usage.request_too_large',
        `The request on standard input has more than ${maxBytes} bytes: put what is long into a file of the workspace.`,
      );
}

/** The UTF-8 text of a stream, of at most 16 MiB. */
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
    // That is the one thing it throws for.
    return { problem: 'not-text' };
  }
}
