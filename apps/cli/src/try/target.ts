import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Tool } from '@holdfast/core';
import { type Diagnostic, defaultIsolation, type Isolation, type ScannedFile } from '@holdfast/loader';
import { isolationTiers } from '../settings/choices.ts';
import type { EnvironmentConsent } from '../settings/environment-consent.ts';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { isFolder } from '../workspace/folder.ts';
import { openFolderTools, toolFileEndings } from '../workspace/toolset.ts';

/** A tool file to be tried, checked among the files beside it. */
export interface TryTarget {
  /** As it was named, but for the file itself. */
  readonly folder: string;
  /** Its real path. */
  readonly folderPath: string;
  /** `undefined`: the file is refused. */
  readonly tool: Tool | undefined;
  /** Of this file. */
  readonly diagnostics: readonly Diagnostic[];
  /** Where the tool runs. */
  readonly isolation: Isolation;
  /** Ends the processes in which it runs. */
  close(): Promise<void>;
}

/**
 * Checks a tool file as `check` does, whatever is locked: who names a file wants that one tried.
 *
 * @throws HoldfastError `usage.file_missing`, `usage.file_not_tool`.
 */
export async function openTarget(
  name: string,
  { isolation, environment }: { readonly isolation: Isolation | undefined; readonly environment: EnvironmentConsent },
  host: Host,
): Promise<TryTarget> {
  const path = resolve(host.directory, name);
  if (await isFolder(path)) {
    throw usageError(
      'usage.file_missing',
      `\`${name}\` is a folder: name one tool file of it. \`holdfast check ${quoteWord(name)}\` looks at all of them.`,
    );
  }
  if (!(await isThere(path))) {
    throw usageError(
      'usage.file_missing',
      `There is no file \`${name}\` that can be opened: name a tool file by its path, such as plugins/make_slug.mjs.`,
    );
  }
  const file = basename(path);
  const folder = { name: dirname(name), path: dirname(path) };
  const toolset = await openFolderTools(folder, {
    lock: 'ignore',
    ...(isolation === undefined ? {} : { isolation }),
    print: (text) => host.stderr.write(toPrintableBlock(text)),
    // The files beside it are not called.
    environment: (request) => (request.file === file ? environment.grant(request) : {}),
  });
  const scanned = toolset.files.find((one) => one.file === file);
  if (scanned === undefined) {
    await toolset.close();
    throw usageError(
      'usage.file_not_tool',
      `\`${name}\` does not count as a tool file: its name ends in ${toolFileEndings}, begins with neither \`.\` nor \`_\`, it is no test, and no other tool is made of it.`,
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

// Whatever is there is for the loader to judge.
async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    // Missing or out of reach: the caller says that there is no such file.
    return false;
  }
}

/** Where the tool of a file runs: in the stricter of what is asked for; what is no JavaScript in a process at least. */
function findTier(scanned: ScannedFile, weakest: Isolation = defaultIsolation): Isolation {
  if (scanned.type === 'refused') return weakest;
  const { form, isolation } = scanned.metadata;
  const tier = stricter(weakest, isolation);
  return form === 'command' || form === 'python' ? stricter('subprocess', tier) : tier;
}

function stricter(weakest: Isolation, asked: Isolation | undefined): Isolation {
  return asked !== undefined && isolationTiers.indexOf(asked) > isolationTiers.indexOf(weakest) ? asked : weakest;
}
