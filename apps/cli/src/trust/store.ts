import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import * as v from 'valibot';
import type { Host } from '../terminal/host.ts';
import { readUserFile, userFolder, writeUserFile } from '../user/folder.ts';

/** The trusted code of one folder. */
export interface TrustedFolder {
  /** Digests by path relative to the folder, with `/`. */
  readonly files: ReadonlyMap<string, string>;
  /** Versions by name. */
  readonly packages: ReadonlyMap<string, string>;
  /** Code named on the command line of a run here, so that resuming may use it: absolute paths, and `package:<name>`. */
  readonly named: ReadonlySet<string>;
}

export type StoreHost = Pick<Host, 'environment' | 'directory'>;

export const nothingTrusted: TrustedFolder = { files: new Map(), packages: new Map(), named: new Set() };

const fileName = 'trust.json';

const text = v.string();
const pairs = v.array(v.strictTuple([text, text]));
// Lists of pairs, because a path may be a key that objects treat specially.
const store = v.strictObject({
  version: v.literal(1),
  folders: v.array(v.strictObject({ folder: text, files: pairs, packages: pairs, named: v.array(text) })),
});

/** @throws HoldfastError `user_config.invalid`, `user_folder.unusable`. */
export async function readTrusted(directory: string, host: StoreHost): Promise<TrustedFolder> {
  const { folders } = await readStore(host);
  const place = await toPlace(directory);
  const found = folders.find(({ folder }) => folder === place);
  if (found === undefined) return nothingTrusted;
  const { files, packages, named } = found;
  return { files: new Map(files), packages: new Map(packages), named: new Set(named) };
}

/**
 * Replaces the entry of a folder, or removes it if it is empty.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.*`.
 */
export async function writeTrusted(directory: string, trusted: TrustedFolder, host: StoreHost): Promise<void> {
  const { folders } = await readStore(host);
  const folder = await toPlace(directory);
  const others = folders.filter((one) => one.folder !== folder);
  const { files, packages, named } = trusted;
  const isEmpty = files.size + packages.size + named.size === 0;
  const kept = isEmpty ? [] : [{ folder, files: [...files], packages: [...packages], named: [...named] }];
  await writeUserFile(
    fileName,
    `${JSON.stringify({ version: 1, folders: [...others, ...kept] }, undefined, 2)}\n`,
    host,
  );
}

function toPlace(directory: string): Promise<string> {
  // A folder deleted since a run started has only this name.
  return realpath(directory).catch(() => directory);
}

async function readStore(host: StoreHost): Promise<v.InferOutput<typeof store>> {
  const written = await readUserFile(fileName, host);
  if (written === undefined) return { version: 1, folders: [] };
  const parsed = v.safeParse(store, parse(written));
  if (parsed.success) return parsed.output;
  const path = join(userFolder(host), fileName);
  throw new HoldfastError(
    'user_config.invalid',
    `\`${path}\` is not a valid list of trusted folders. Delete the file, then trust your folders again with \`holdfast trust\`.`,
    { data: { reason: 'trust', path } },
  );
}

function parse(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    // Reported like any other invalid store.
    return undefined;
  }
}
