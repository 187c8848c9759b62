import { usageError } from './failure.ts';
import type { Host } from './host.ts';

const maxRequestBytes = 16 * 1024 * 1024;

/**
 * The request that `argument` is, or with `-` the one on standard input: UTF-8 text of at most 16 MiB.
 *
 * @throws HoldfastError `usage.request_empty`, `usage.request_too_large`, `usage.request_not_text`.
 */
export async function readRequest(argument: string, host: Pick<Host, 'stdin' | 'stderr'>): Promise<string> {
  const request = argument === '-' ? await readStdin(host) : argument;
  if (request.trim() === '') throw usageError('usage.request_empty', 'The request is empty: say what to do.');
  return request;
}

async function readStdin({ stdin, stderr }: Pick<Host, 'stdin' | 'stderr'>): Promise<string> {
  if (stdin.isTTY === true) stderr.write('Type the request, and end it with Ctrl-D on a line of its own.\n');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxRequestBytes) {
      throw usageError(
        'usage.request_too_large',
        `The request on standard input has more than ${maxRequestBytes} bytes: put what is long into a file of the workspace.`,
      );
    }
    chunks.push(bytes);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw usageError('usage.request_not_text', 'What came on standard input is not UTF-8 text.');
  }
}
