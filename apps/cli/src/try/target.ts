import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Tool } from '@holdfast/core';
import type { Diagnostic, Isolation } from '@holdfast/loader';
import { defaultIsolation, type ScannedFile } from '@holdfast/loader/internal';
import { isolationTiers } from '../settings/choices.ts';
import type { EnvironmentConsent } from '../settings/environment-consent.ts';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { isFolder } from '../workspace/folder.ts';
import { openFolderTools, toolFileEndings } from '../workspace/toolset.ts';

/** A tool file to try, checked together with the files beside it. */
export interface TryTarget {
  /** The folder as named. */
  readonly folder: string;
  /** The real path. */
  readonly folderPath: string;
  /** `undefined`: the file is invalid. */
  readonly tool: Tool | undefined;
  /** Diagnostics of this file. */
  readonly diagnostics: readonly Diagnostic[];
  /** The isolation of the tool. */
  readonly isolation: Isolation;
  /** Ends the tool's processes. */
  close(): Promise<void>;
}

/**
 * Checks a tool file like `check`, ignoring any lock, because the user named the file.
 *
 * @throws HoldfastError `usage.invalid` (`file_missing`, `file_not_tool`).
 */
export async function openTarget(
  name: string,
  { isolation, environment }: { readonly isolation: Isolation | undefined; readonly environment: EnvironmentConsent },
  host: Host,
): Promise<TryTarget> {
  const path = resolve(host.directory, name);
  if (await isFolder(path)) {
    throw usageError(
      'file_missing',
      `\`${name}\` is a folder: give a tool file, or check the whole folder with \`holdfast check ${quoteWord(name)}\`.`,
    );
  }
  if (!(await isThere(path))) {
    throw usageError(
      'file_missing',
      `Cannot open file \`${name}\`: give the path of a tool file, such as plugins/make_slug.mjs.`,
    );
  }
  const file = basename(path);
  const folder = { name: dirname(name), path: dirname(path) };
  const toolset = await openFolderTools(folder, {
    lock: 'ignore',
    ...(isolation === undefined ? {} : { isolation }),
    print: (text) => host.stderr.write(toPrintableBlock(text)),
    // Other files in the folder are not called.
    environment: (request) => (request.file === file ? environment.grant(request) : {}),
  });
  const scanned = toolset.files.find((one) => one.file === file);
  if (scanned === undefined) {
    await toolset.close();
    throw usageError(
      'file_not_tool',
      `\`${name}\` is not a tool file: its name must end in ${toolFileEndings} and not begin with \`.\` or \`_\`, and it must not be a test or part of another tool.`,
    );
  }
  return {
    folder: folder.name,
    folderPath: folder.path,
    tool: toolset.folderTools.find(({ origin }) => origin?.source === file),
    diagnostics: toolset.diagnostics.filter((one) => one.file === file),
    isolation: findTier(scanned, isolation),
    close: () => toolset.close(),
  };
}

// The loader decides what the file is.
async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    // Missing or unreachable: the caller reports it.
    return false;
  }
}

/** The isolation of a file's tool: the stricter of the requested ones, and at least a process for other languages than JavaScript. */
function findTier(scanned: ScannedFile, weakest: Isolation = defaultIsolation): Isolation {
  if (scanned.type === 'refused') return weakest;
  const { form, isolation } = scanned.metadata;
  const tier = stricter(weakest, isolation);
  return form === 'command' || form === 'python' ? stricter('subprocess', tier) : tier;
}

function stricter(weakest: Isolation, asked: Isolation | undefined): Isolation {
  return asked !== undefined && isolationTiers.indexOf(asked) > isolationTiers.indexOf(weakest) ? asked : weakest;
}
