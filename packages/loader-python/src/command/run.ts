import { dirname } from 'node:path';
import { HoldfastError, type Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import {
  findProgram,
  findProgramFolders,
  type PinnedTool,
  type ProgramAnswer,
  type ProgramCall,
  type ProgramExit,
  toErrorText,
} from '@holdfast/loader/language';
import { isOwnFile } from './check.ts';
import { toCommandPath } from './files.ts';

/** Arguments are passed on standard input; standard output must be one JSON value, standard error is for errors. */
export async function prepareCommand(tool: PinnedTool, input: Json): Promise<ProgramCall> {
  const [program = '', ...parameters] = tool.metadata.command?.words ?? [];
  const toPlace = (word: string): string => (isOwnFile(word) ? toCommandPath(tool.entry, word) : word);
  const place = isOwnFile(program) ? toPlace(program) : findProgram(program);
  if (place === undefined) {
    const message = `\`${tool.metadata.name}\` needs the program \`${program}\`, which is not on the PATH: install it.`;
    throw new HoldfastError('tool.process.not_started', message, { data: { reason: 'command', program } });
  }
  return {
    command: [place, ...parameters.map(toPlace)],
    input: `${JSON.stringify(input)}\n`,
    folders: isOwnFile(program) ? [] : findProgramFolders(place),
  };
}

export function readCommandEnd(tool: PinnedTool, end: ProgramExit): ProgramAnswer {
  if (end.signal !== null) return { type: 'ended', how: `by ${end.signal}` };
  return end.code === 0 ? readOutput(end.output) : { type: 'threw', error: describeFailure(tool, end) };
}

/** Parses one JSON value, or describes the problem. */
export function readOutput(output: Uint8Array): ProgramAnswer {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(output);
  } catch {
    // The decoder gives no details.
    return { type: 'unfit', problem: 'it is not UTF-8 text' };
  }
  if (text.trim() === '') return { type: 'unfit', problem: 'it is empty' };
  const parsed = parseJson(text, { maxDepth: 64 });
  return parsed.ok ? { type: 'returned', value: parsed.value } : { type: 'unfit', problem: parsed.problem };
}

function describeFailure({ metadata: { name }, entry }: PinnedTool, { code, lastWords }: ProgramExit): HoldfastError {
  const text = toErrorText(lastWords, dirname(entry), 'end');
  return new HoldfastError(
    'tool.failed',
    text === '' ? `\`${name}\` ended with exit code ${code} and wrote nothing to standard error.` : text,
    { data: { reason: 'exit_code', exitCode: code } },
  );
}
