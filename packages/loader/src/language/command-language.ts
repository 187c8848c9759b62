import { dirname } from 'node:path';
import { HoldfastError, parseJson } from '@holdfast/core';
import { findProgram } from '../files/find-program.ts';
import { readBounded } from '../files/read-bounded.ts';
import { findProgramFolders } from '../isolate/bubblewrap.ts';
import { fileChanged, processExited, unfit } from '../isolate/failures.ts';
import type { ToolLanguage } from '../isolate/program.ts';
import type { ProgramEnd } from '../isolate/run-program.ts';
import type { PinnedTool } from '../isolate/types.ts';
import { digestOf } from '../scan/tool-files.ts';
import { toErrorText } from '../text/hide-paths.ts';
import { isOwnFile } from './check-command.ts';
import { maxCommandFileBytes, toCommandPath } from './command-files.ts';

/** Tools that a `.tool.json` describes: arguments on standard input, one JSON value on standard output, errors on standard error. */
export const commandLanguage: ToolLanguage = {
  async prepare(tool, input) {
    await checkFiles(tool);
    const [program = '', ...parameters] = tool.metadata.command?.words ?? [];
    const toPlace = (word: string): string => (isOwnFile(word) ? toCommandPath(tool.entry, word) : word);
    const place = isOwnFile(program) ? toPlace(program) : findProgram(program);
    if (place === undefined) {
      throw new HoldfastError(
        'tool.command.missing',
        `\`${tool.metadata.name}\` needs the program \`${program}\`, which is in no folder of the PATH: install it.`,
        { data: { program } },
      );
    }
    return {
      command: [place, ...parameters.map(toPlace)],
      input: `${JSON.stringify(input)}\n`,
      folders: isOwnFile(program) ? [] : findProgramFolders(place),
    };
  },
  read(tool, end) {
    if (end.code === 0) return readOutput(end.output);
    throw describeFailure(tool, end);
  },
};

/** One JSON value, and what stands for it where it is none. */
export function readOutput(output: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(output);
  } catch {
    return unfit('it is not UTF-8 text');
  }
  if (text.trim() === '') return unfit('it is empty');
  const parsed = parseJson(text, { maxDepth: 64 });
  return parsed.ok ? parsed.value : unfit(parsed.problem);
}

function describeFailure(
  tool: PinnedTool,
  { code, signal, lastWords }: Extract<ProgramEnd, { readonly type: 'exited' }>,
): HoldfastError {
  const { name } = tool.metadata;
  if (signal !== null) return processExited(tool, `by ${signal}`);
  const text = toErrorText(lastWords, dirname(tool.entry), 'end');
  return new HoldfastError(
    'tool.command.failed',
    text === '' ? `\`${name}\` ended with the exit code ${code} and said nothing on standard error.` : text,
    { data: { exitCode: code } },
  );
}

async function checkFiles({ file, commandFiles = new Map() }: PinnedTool): Promise<void> {
  for (const [path, digest] of commandFiles) {
    // Something that nobody writes to may have taken its place, for which a plain reading would wait.
    const reading = readBounded(path, maxCommandFileBytes);
    if (reading.type !== 'read' || digestOf(reading.bytes) !== digest) throw fileChanged(file);
  }
}
