import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeThrown, HoldfastError } from '@holdfast/core';
import { makeVisible } from './hidden-text.ts';
import type { ScannedFile } from './scan-folder.ts';
import { digestOf } from './tool-files.ts';
import { findToolFunction, type ToolFunction } from './tool-function.ts';

type VerifiedFile = Omit<Extract<ScannedFile, { type: 'tool' }>, 'type'>;

/**
 * Makes a function that imports a tool file when it is first called, and remembers what came of it.
 *
 * It fails with HoldfastError `tool.file.changed` when the file no longer has the bytes that were verified (asked until it is
 * imported), `tool.file.import_failed` when the import throws, `tool.function.not_function` when the file has put something
 * else in the function's place.
 */
export function createImport({ file, path, digest, metadata }: VerifiedFile): () => Promise<ToolFunction> {
  let imported: Promise<ToolFunction> | undefined;
  return async () => {
    if (imported === undefined) {
      await checkDigest(file, path, digest);
      // Two first calls at once may both have asked.
      imported ??= importFunction({ file, path, digest, metadata });
    }
    return imported;
  };
}

async function checkDigest(file: string, path: string, digest: string): Promise<void> {
  let found: string | undefined;
  let cause: unknown;
  try {
    found = digestOf(await readFile(path));
  } catch (thrown) {
    cause = thrown;
  }
  if (found === digest) return;
  throw new HoldfastError(
    'tool.file.changed',
    `The tool file \`${file}\` is not the one that was verified: load the tools again.`,
    { data: { file }, cause },
  );
}

async function importFunction({ file, path, digest, metadata }: VerifiedFile): Promise<ToolFunction> {
  // One URL a content: Node keeps modules by URL, and would answer with what it read from this path before.
  const url = pathToFileURL(path);
  url.searchParams.set('sha256', digest);
  let module: object;
  try {
    module = await import(/* @vite-ignore */ url.href);
  } catch (cause) {
    const message = hidePaths(describeThrown(cause), dirname(path));
    throw new HoldfastError('tool.file.import_failed', `The tool file \`${file}\` cannot be imported: ${message}`, {
      data: { file },
      cause,
    });
  }
  const imported = findToolFunction(module, metadata);
  if (imported !== undefined) return imported;
  throw new HoldfastError(
    'tool.function.not_function',
    `\`${metadata.function}\` of the tool file \`${file}\` is no function any more: declare it once and leave it so.`,
    { data: { file } },
  );
}

const maxMessageLength = 500;

// Node names files by their full path. Those of the tools folder become relative, others keep their last part.
function hidePaths(message: string, folder: string): string {
  const text = makeVisible(message.slice(0, 4 * maxMessageLength))
    .replaceAll(/\?sha256=[\da-f]{64}/g, '')
    .replaceAll(/file:\/\//g, '')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/(?<![\w.:/])(?:[A-Za-z]:)?[\\/][^\s'"`()]*[\\/][^\s'"`()]*/g, (path) => basename(path));
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength - 1)}…`;
}
