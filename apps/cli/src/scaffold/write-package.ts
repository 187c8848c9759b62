import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { type ExitCode, usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { toPrintable } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { toPackFiles } from './pack.ts';
import type { NewPackage } from './package.ts';
import { toPluginFiles } from './plugin.ts';

export interface NewPackageOptions {
  readonly kind: 'pack' | 'plugin';
  /** The npm name, with or without a scope. */
  readonly packageName: string;
  readonly json: boolean;
}

// npm names, limited to those that are valid for a pack or plugin.
const pattern = /^(?:@[a-z0-9][a-z0-9._-]{0,100}\/)?([a-z0-9][a-z0-9-]{0,31})$/;

/**
 * Writes a new package into a new folder of the same name: tested, checked and ready to publish.
 *
 * @throws HoldfastError `usage.invalid` (`name_invalid`, `file_exists`), `output.unwritable`.
 */
export async function writeNewPackage(
  { kind, packageName, json }: NewPackageOptions,
  host: Host,
  version: string,
): Promise<ExitCode> {
  const name = pattern.exec(packageName)?.[1];
  if (name === undefined) {
    throw usageError(
      'name_invalid',
      `Invalid ${kind} name \`${packageName}\`: expected up to 32 lower-case letters, digits and \`-\`, optionally with a scope (\`@acme/git-safety\`).`,
    );
  }
  const project: NewPackage = { packageName, name, version };
  const files = kind === 'pack' ? toPackFiles(project) : toPluginFiles(project);
  await writeFiles(name, files, host.directory);
  if (json) {
    host.stdout.write(
      `${toJsonText({ kind, name, package: packageName, folder: name, files: [...files.keys()] }, 2)}\n`,
    );
    return 0;
  }
  host.stdout.write(
    [
      `wrote ${files.size} files to ${toPrintable(name)}; edit them, then run`,
      `  cd ${quoteWord(name)}`,
      '  npm install',
      '  npm test',
      ...(kind === 'pack' ? ['  npm run check'] : []),
      '  npm publish',
      '',
    ].join('\n'),
  );
  return 0;
}

async function writeFiles(folder: string, files: ReadonlyMap<string, string>, directory: string): Promise<void> {
  const path = resolve(directory, folder);
  let isOurs = false;
  try {
    // Neither into an existing folder nor through a link.
    await mkdir(path);
    isOurs = true;
    for (const [file, text] of files) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text, { flag: 'wx' });
    }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (!isOurs && code === 'EEXIST')
      throw usageError('file_exists', `\`${folder}\` already exists: nothing was written.`);
    // Removes an incomplete package.
    if (isOurs) await rm(path, { recursive: true, force: true });
    throw new HoldfastError('output.unwritable', `Cannot write the folder \`${folder}\` (${code}).`, {
      data: { reason: 'package', folder },
      cause,
    });
  }
}
