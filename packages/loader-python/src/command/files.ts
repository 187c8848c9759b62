import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { ToolCommand } from '@holdfast/loader';
import { type Finding, findRealPath, readBounded } from '@holdfast/loader/language';

/** Above these sizes a file of a command, and all files of one command, are refused, in bytes. */
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
  /** `word`: which file it is about, as the `.tool.json` calls it. */
  | { readonly type: 'refused'; readonly word: string; readonly finding: Finding };

/** Reads the files that a command names. A program among them may be run by its owner. Never throws for what a file is. */
export function readCommandFiles(entry: string, { words, files }: ToolCommand): CommandFilesReading {
  const read: CommandFile[] = [];
  let bytes = 0;
  for (const word of files) {
    const path = toCommandPath(entry, word);
    const file = readCommandFile(path, { word, isProgram: word === words[0] });
    if (file.type === 'refused') return { ...file, word };
    bytes += file.file.bytes.length;
    if (bytes > maxCommandBytes) {
      const message = `The files of the command have more than ${maxCommandBytes} bytes.`;
      const hint = 'Install what is large, and name a program of the `PATH`.';
      return { type: 'refused', word, finding: { code: 'tool.command.too_large', message, hint } };
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

function readCommandFile(
  path: string,
  { word, isProgram }: { readonly word: string; readonly isProgram: boolean },
): FileReading {
  const refuse = (problem: string, message: string, hint: string): FileReading => {
    return { type: 'refused', finding: { code: `tool.command.${problem}`, message, hint } };
  };
  const place = findRealPath(path);
  const reading = place === undefined ? ({ type: 'missing' } as const) : readBounded(path, maxCommandFileBytes);
  if (reading.type === 'missing')
    return refuse('file_missing', `There is no file \`${word}\` beside this one.`, 'Put it there, or name another.');
  if (place !== path) {
    const message = `\`${word}\` is, or lies behind, a symbolic link.`;
    return refuse('file_unreadable', message, 'Put the file itself into the folder.');
  }
  if (reading.type === 'refused') {
    const message = `\`${word}\` cannot be used: ${reading.why}.`;
    return refuse('file_unreadable', message, 'Name a regular file that may be read.');
  }
  if (isProgram && !reading.isExecutable) {
    const message = `\`${word}\` may not be run: it is not executable.`;
    const hint = 'Make it so with `chmod +x`, or name the program that runs it first.';
    return refuse('not_executable', message, hint);
  }
  const { bytes } = reading;
  return { type: 'read', file: { path, bytes, digest: hash('sha256', bytes) } };
}
