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
  /** A model name, or the URL of a file. */
  readonly model: string;
  /** For a file given by URL. */
  readonly sha256: string | undefined;
  readonly json: boolean;
}

/**
 * Downloads a model with the downloader of `node-llama-cpp`, verifies its SHA-256, and prints how to run it.
 *
 * @throws HoldfastError `usage.invalid` (`model_unknown`, `url_invalid`, `checksum_missing`, `checksum_invalid`,
 * `local_packages_missing`), `download.*`.
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
    const remedy = `\`${host.command} model remove ${name}\` deletes it.`;
    await checkDigest(path, wanted.sha256, (why) => `\`${path}\` is not the file of \`${name}\`: ${why} ${remedy}`);
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
      host.stderr.write(`Stopped; the partial download is kept. To continue:\n  ${toPrintable(again)}\n`);
      return interruptionCodes[pulled];
    }
    await checkPulled(pulled.file, wanted);
    // From now on a run finds the model by its name.
    await rename(pulled.file, path);
    await report({ wanted, path, resumedFromBytes: pulled.resumedFromBytes }, json, host);
    return 0;
  } finally {
    await unlock();
  }
}

/** Deletes a file with the wrong content. */
async function checkPulled(file: string, { url, sha256 }: WantedModel): Promise<void> {
  try {
    const rest = 'It was deleted; the next pull starts over.';
    await checkDigest(file, sha256, (why) => `The file from \`${url}\` is not the expected one: ${why} ${rest}`);
  } catch (thrown) {
    await rm(file);
    throw thrown;
  }
}

/** @throws HoldfastError `download.failed`, with the message from `is`. */
async function checkDigest(path: string, sha256: string, is: (found: string) => string): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  const found = hash.digest('hex');
  if (found === sha256) return;
  const message = is(`its SHA-256 is ${found}, expected ${sha256}.`);
  throw new HoldfastError('download.failed', message, {
    data: { reason: 'checksum_wrong', path, expected: sha256, found },
  });
}

/**
 * Locks a partial download against other processes. Returns the function that releases the lock.
 *
 * @throws HoldfastError `download.failed`.
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
    const who = holder === 'unknown' ? 'another process' : `process ${holder.pid}`;
    throw new HoldfastError(
      'download.failed',
      `\`${part}\` is in use by ${who}: wait until it ends. Remove \`${lock}\` only if you are sure that it has ended.`,
      { data: { reason: 'busy', lock } },
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
  /** null if it was already there. */
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
  const done = resumedFromBytes === null ? 'was already pulled' : 'pulled';
  const lines = [
    `${name} ${done}, ${formatBytes(bytes)}, SHA-256 verified`,
    path,
    '',
    'Run it with:',
    `  ${command} run --model local:${name} "List the files here"`,
  ];
  stdout.write(`${lines.map(toPrintable).join('\n')}\n`);
}
