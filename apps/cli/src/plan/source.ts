import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { describeThrown, isHoldfastError } from '@holdfast/core';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

// Ten thousand nodes with a kilobyte of inputs each have room.
const maxPlanBytes = 16 * 1024 * 1024;

/**
 * The text of the plan in a file, or with `-` on standard input: UTF-8 of at most 16 MiB.
 *
 * @throws HoldfastError `usage.plan_unreadable`.
 */
export async function readPlanText(
  file: string,
  { stdin, stderr, directory }: Pick<Host, 'stdin' | 'stderr' | 'directory'>,
): Promise<string> {
  if (file === '-') {
    if (stdin.isTTY === true) stderr.write('Type or paste the plan, and end it with Ctrl-D on a line of its own.\n');
    return await readText(stdin, 'The plan on standard input');
  }
  return await readText(createReadStream(resolve(directory, file)), `The plan \`${file}\``);
}

async function readText(source: Readable, what: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxPlanBytes) throw unreadable(what, `has more than ${maxPlanBytes} bytes, and no plan is that large`);
      chunks.push(bytes);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (thrown) {
    if (isHoldfastError(thrown)) throw thrown;
    throw unreadable(what, describeProblem(thrown));
  }
}

function describeProblem(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code === 'ENOENT') return 'is not there: name a file with a plan as JSON, or - for standard input';
  if (code === 'EISDIR') return 'is a folder: name the file in it';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return `cannot be read: ${describeThrown(thrown)}`;
}

function unreadable(what: string, problem: string): Error {
  return usageError('usage.plan_unreadable', `${what} ${problem}.`);
}
