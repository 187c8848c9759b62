import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ToolCommand } from '@holdfast/loader';
import { type Finding, readBounded } from '@holdfast/loader/language';

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
export async function readCommandFiles(entry: string, { words, files }: ToolCommand): Promise<CommandFilesReading> {
  const read: CommandFile[] = [];
  let bytes = 0;
  for (const word of files) {
    const path = toCommandPath(entry, word);
    const file = await readCommandFile(path, { word, isProgram: word === words[0] });
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

async function readCommandFile(
  path: string,
  { word, isProgram }: { readonly word: string; readonly isProgram: boolean },
): Promise<FileReading> {
  const refuse = (code: string, message: string, hint: string): FileReading => {
    return { type: 'refused', finding: { code, message, hint } };
  };
  const place = await findPlace(path);
  if (place === undefined)
    return refuse(
      'tool.command.file_missing',
      `There is no file \`${word}\` beside this one.`,
      'Put it there, or name another.',
    );
  if (place !== path) {
    const message = `\`${word}\` is, or lies behind, a symbolic link.`;
    return refuse('tool.command.file_unreadable', message, 'Put the file itself into the folder.');
  }
  const reading = readBounded(path, maxCommandFileBytes);
  if (reading.type === 'missing')
    return refuse(
      'tool.command.file_missing',
      `There is no file \`${word}\` beside this one.`,
      'Put it there, or name another.',
    );
  if (reading.type === 'refused') {
    const message = `\`${word}\` cannot be used: ${reading.why}.`;
    return refuse('tool.command.file_unreadable', message, 'Name a regular file that may be read.');
  }
  if (isProgram && !reading.isExecutable) {
    const message = `\`${word}\` may not be run: it is not executable.`;
    return refuse(
      'tool.command.not_executable',
      message,
      'Make it so with `chmod +x`, or name the program that runs it first.',
    );
  }
  const { bytes } = reading;
  return { type: 'read', file: { path, bytes, digest: hash('sha256', bytes) } };
}

async function findPlace(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // Missing, a circle of links, or not to be looked into.
    return undefined;
  }
}
