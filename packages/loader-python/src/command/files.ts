import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { ToolCommand } from '@holdfast/loader/language';
import { type Finding, findRealPath, readBounded } from '@holdfast/loader/language';

/** Size limits, in bytes, of a command's files, each and in total. */
const maxCommandFileBytes = 64 * 1024 * 1024;
const maxCommandBytes = 64 * 1024 * 1024;

/** A file that a command names. */
export interface CommandFile {
  /** Absolute, without symlinks. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
}

export type CommandFilesReading =
  | { readonly type: 'read'; readonly files: readonly CommandFile[] }
  /** `word`: the file as named in the `.tool.json`. */
  | { readonly type: 'refused'; readonly word: string; readonly finding: Finding };

/** Reads the files that a command names. A program among them must be executable by its owner. Does not throw for the state of a file. */
export function readCommandFiles(entry: string, { words, files }: ToolCommand): CommandFilesReading {
  const read: CommandFile[] = [];
  let bytes = 0;
  for (const word of files) {
    const path = toCommandPath(entry, word);
    const file = readCommandFile(path, { word, isProgram: word === words[0] });
    if (file.type === 'refused') return { ...file, word };
    bytes += file.file.bytes.length;
    if (bytes > maxCommandBytes) {
      const message = `The files of the command exceed ${maxCommandBytes} bytes.`;
      const hint = 'Install large files, and name a program of the `PATH`.';
      return { type: 'refused', word, finding: { code: 'tool.command.invalid', reason: 'too_large', message, hint } };
    }
    read.push(file.file);
  }
  return { type: 'read', files: read };
}

/** The absolute path of a file that a command names; `entry` is the path of the `.tool.json`. */
export function toCommandPath(entry: string, word: string): string {
  return join(dirname(entry), word);
}

type FileReading =
  | { readonly type: 'read'; readonly file: CommandFile }
  | { readonly type: 'refused'; readonly finding: Finding };

/** Reasons of `tool.command.invalid`. */
type CommandReason = 'file_missing' | 'file_unreadable' | 'not_executable' | 'too_large';

function readCommandFile(
  path: string,
  { word, isProgram }: { readonly word: string; readonly isProgram: boolean },
): FileReading {
  const refuse = (reason: CommandReason, message: string, hint: string): FileReading => {
    return { type: 'refused', finding: { code: 'tool.command.invalid', reason, message, hint } };
  };
  const place = findRealPath(path);
  const reading = place === undefined ? ({ type: 'missing' } as const) : readBounded(path, maxCommandFileBytes);
  if (reading.type === 'missing')
    return refuse(
      'file_missing',
      `The file \`${word}\` does not exist beside this one.`,
      'Create it, or name another.',
    );
  if (place !== path) {
    const message = `\`${word}\` is, or is behind, a symbolic link.`;
    return refuse('file_unreadable', message, 'Put the file itself into the folder.');
  }
  if (reading.type === 'refused') {
    const message = `Cannot use \`${word}\`: ${reading.why}.`;
    return refuse('file_unreadable', message, 'Name a regular, readable file.');
  }
  if (isProgram && !reading.isExecutable) {
    const message = `\`${word}\` is not executable.`;
    const hint = 'Run `chmod +x` on it, or put the program that runs it first.';
    return refuse('not_executable', message, hint);
  }
  const { bytes } = reading;
  return { type: 'read', file: { path, bytes, digest: hash('sha256', bytes) } };
}
