import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { type LockOwner, newLockOwner, releaseLock, takeLock } from '@holdfast/session/lock';
import { type ExitCode, interruptionCodes } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toJsonText } from '../terminal/json.ts';
import { formatBytes, toPrintable } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { findWanted, type NamedModel, namedModels, type WantedModel } from './catalogue.ts';
import { downloadModel, importDownloader } from './download.ts';
import { findPulledModel, folderUnusable, modelsFolder, toModelPath, toPartFolder } from './pulled.ts';

export interface PullOptions {
  /** The name of a model, or the address of a file. */
  readonly model: string;
  /** Of the file at an address. */
  readonly sha256: string | undefined;
  readonly json: boolean;
}

/**
 * Downloads a model with the downloader of `node-llama-cpp`, checks its SHA-256, and says how to run it.
 *
 * @throws HoldfastError `usage.model_unknown`, `usage.url_invalid`, `usage.checksum_missing`, `usage.checksum_invalid`,
 * `usage.local_packages_missing`, `download.*`.
 */
export async function pullModel(
  { model, sha256, json }: PullOptions,
  host: Host,
  models: readonly NamedModel[] = namedModels,
): Promise<ExitCode> {
  const wanted = findWanted(model, sha256, models);
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const path = toModelPath(wanted.name, folder);
  if ((await findPulledModel(wanted.name, folder)) !== undefined) {
    const { name } = wanted;
    const remedy = `\`${host.command} model remove ${name}\` removes it.`;
    await checkDigest(
      path,
      wanted.sha256,
      (why) => `\`${path}\` is another file than \`${name}\` is: ${why} ${remedy}`,
    );
    await report({ wanted, path, resumedFromBytes: null }, json, host);
    return 0;
  }
  const create = await importDownloader(host.directory);
  const part = toPartFolder(wanted.name, folder);
  const unlock = await lockPart(part, folder);
  try {
    const pulled = await downloadModel({ wanted, part, create, quiet: json }, host);
    if (typeof pulled === 'string') {
      const again = `${host.command} model pull ${quoteWord(model)}${sha256 === undefined ? '' : ` --sha256 ${sha256}`}`;
      host.stderr.write(`Stopped; what has come is kept. To go on from there:\n  ${toPrintable(again)}\n`);
      return interruptionCodes[pulled];
    }
    await checkPulled(pulled.file, wanted);
    // Only now it has the name by which a run finds it.
    await rename(pulled.file, path);
    await report({ wanted, path, resumedFromBytes: pulled.resumedFromBytes }, json, host);
    return 0;
  } finally {
    await unlock();
  }
}

/** Removes a file that is not the one that was meant. */
async function checkPulled(file: string, { url, sha256 }: WantedModel): Promise<void> {
  try {
    const rest = 'It is removed, and the next pull begins anew.';
    await checkDigest(
      file,
      sha256,
      (why) => `What came from \`${url}\` is not the file that was meant: ${why} ${rest}`,
    );
  } catch (thrown) {
    await rm(file);
    throw thrown;
  }
}

/** @throws HoldfastError `download.checksum_wrong`, which says what `is` wrong, and what becomes of it. */
async function checkDigest(path: string, sha256: string, is: (found: string) => string): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  const found = hash.digest('hex');
  if (found === sha256) return;
  const message = is(`its SHA-256 is ${found}, expected was ${sha256}.`);
  throw new HoldfastError('download.checksum_wrong', message, { data: { path, expected: sha256, found } });
}

/**
 * Keeps other processes from what there is of a model. The answer lets go of it.
 *
 * @throws HoldfastError `download.busy`, `download.folder_unusable`.
 */
export async function lockPart(part: string, folder: string): Promise<() => Promise<void>> {
  const lock = join(part, 'lock');
  const mine = newLockOwner();
  let holder: LockOwner | 'unknown' | undefined;
  try {
    await mkdir(part, { recursive: true });
    holder = takeLock(lock, mine);
  } catch (cause) {
    throw folderUnusable(folder, cause);
  }
  if (holder !== undefined) {
    const who = holder === 'unknown' ? 'somebody' : `process ${holder.pid}`;
    throw new HoldfastError(
      'download.busy',
      `\`${part}\` is worked on by ${who}: wait for the end of that. Only when you are sure that it has ended, remove \`${lock}\`.`,
      { data: { lock } },
    );
  }
  return async () => {
    releaseLock(lock, mine);
    if ((await readdir(part)).length === 0) await rmdir(part);
  };
}

interface Pulled {
  readonly wanted: WantedModel;
  readonly path: string;
  /** null: it was there before. */
  readonly resumedFromBytes: number | null;
}

async function report(
  { wanted, path, resumedFromBytes }: Pulled,
  json: boolean,
  { stdout, command }: Host,
): Promise<void> {
  const { name, url, sha256 } = wanted;
  const { size: bytes } = await stat(path);
  if (json) {
    const state = resumedFromBytes === null ? 'there' : 'pulled';
    stdout.write(`${toJsonText({ name, state, path, bytes, sha256, url, resumedFromBytes }, 2)}\n`);
    return;
  }
  const done = resumedFromBytes === null ? 'is there already' : 'is pulled';
  const lines = [
    `${name} ${done}, ${formatBytes(bytes)}; its SHA-256 is as it should be.`,
    path,
    '',
    'To run it:',
    `  ${command} run --model local:${name} "List the files here"`,
  ];
  stdout.write(`${lines.map(toPrintable).join('\n')}\n`);
}
