import { statfs } from 'node:fs/promises';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';
import { describeTerminal, type Host, type Interruption } from '../terminal/host.ts';
import { fitColumns, formatBytes } from '../terminal/text.ts';
import type { WantedModel } from './catalogue.ts';
import { bindingPackage, graphicsHint } from './local.ts';
import { findEntry } from './package.ts';

/** The part of `node-llama-cpp` that is used here. */
interface Downloader {
  readonly totalSize: number;
  readonly downloadedSize: number;
  download(options: { readonly signal: AbortSignal }): Promise<string>;
  cancel(): Promise<void>;
}
export type CreateDownloader = (options: {
  readonly modelUri: string;
  readonly dirPath: string;
  readonly fileName: string;
  readonly deleteTempFileOnCancel: boolean;
  onProgress(status: { readonly totalSize: number; readonly downloadedSize: number }): void;
}) => Promise<Downloader>;

/** Imports the downloader of `node-llama-cpp` as installed in the directory. @throws HoldfastError `usage.invalid` (`local_packages_missing`). */
export async function importDownloader(directory: string): Promise<CreateDownloader> {
  const entry = await findEntry(bindingPackage, directory);
  if (entry === undefined) {
    throw usageError(
      'local_packages_missing',
      `\`model pull\` requires \`${bindingPackage}\`, which is not installed here. Run \`npm install ${bindingPackage}\`.`,
      { data: { packages: [bindingPackage], hint: graphicsHint } },
    );
  }
  const { createModelDownloader } = (await import(entry)) as { readonly createModelDownloader: CreateDownloader };
  return createModelDownloader;
}

export interface Downloading {
  readonly wanted: WantedModel;
  readonly part: string;
  readonly create: CreateDownloader;
  readonly quiet: boolean;
}

/**
 * Downloads a model into the folder `part`, resuming a partial download. Returns the unverified file, or the cause of an interruption.
 *
 * @throws HoldfastError `download.*`.
 */
export async function downloadModel(
  { wanted, part, create, quiet }: Downloading,
  host: Host,
): Promise<{ readonly file: string; readonly resumedFromBytes: number } | Interruption> {
  const { name, url, sha256 } = wanted;
  const controller = new AbortController();
  const { signal } = controller;
  const stopped = Promise.withResolvers<never>();
  let interruption: Interruption | undefined;
  const stopListening = host.onInterrupt((cause) => {
    interruption ??= cause;
    controller.abort();
    stopped.reject(new Error('stopped'));
  });
  stopped.promise.catch(() => undefined);
  const view = await createView(name, quiet, host);
  try {
    await probe(url, signal);
    // The digest names the file until it is verified, so that another file of the same name is not resumed.
    const options = { modelUri: url, dirPath: part, fileName: sha256, deleteTempFileOnCancel: false };
    // Creating the downloader cannot be canceled; the end of the program stops it.
    const downloader = await Promise.race([stopped.promise, create({ ...options, onProgress: view.show })]);
    const resumedFromBytes = downloader.downloadedSize;
    await checkRoom(part, downloader.totalSize - resumedFromBytes);
    view.begin(resumedFromBytes, downloader.totalSize);
    const file = await downloader.download({ signal });
    if (interruption !== undefined) await downloader.cancel();
    return interruption ?? { file, resumedFromBytes };
  } catch (thrown) {
    if (interruption !== undefined) return interruption;
    if (isHoldfastError(thrown)) throw thrown;
    throw new HoldfastError(
      'download.failed',
      `The download of \`${url}\` failed: ${describeThrown(thrown)} The partial download is kept; run the same command again to continue.`,
      { data: { url }, cause: thrown },
    );
  } finally {
    view.close();
    stopListening();
  }
}

/** Checks that the server has the file: the downloader would retry for minutes with a vague error. */
async function probe(url: string, signal: AbortSignal): Promise<void> {
  const server = new URL(url).host;
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (cause) {
    throw new HoldfastError(
      'download.failed',
      `Cannot reach \`${server}\`. Check your network. Behind a proxy, set \`HTTPS_PROXY\` and \`NODE_USE_ENV_PROXY=1\`.`,
      { data: { reason: 'unreachable', url }, cause },
    );
  }
  const { status, ok, body } = response;
  await body?.cancel();
  if (ok) return;
  const data = { status, url };
  if (status === 404 || status === 410)
    throw new HoldfastError('download.failed', `File not found on \`${server}\` (${status}): \`${url}\`.`, {
      data: { reason: 'missing', ...data },
    });
  if (status === 401 || status === 403) {
    throw new HoldfastError(
      'download.failed',
      `\`${server}\` denied access (${status}): \`${url}\`. Download the file yourself and run it with \`local:FILE\`.`,
      { data: { reason: 'denied', ...data } },
    );
  }
  throw new HoldfastError('download.failed', `\`${server}\` responded with ${status} for \`${url}\`.`, { data });
}

async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new HoldfastError(
    'download.failed',
    `Not enough disk space in \`${folder}\`: ${formatBytes(bytes)} needed, ${formatBytes(bavail * bsize)} free. Free some space or set \`HOLDFAST_MODELS\` to a folder on another disk.`,
    { data: { reason: 'disk_full', folder, neededBytes: bytes, freeBytes: bavail * bsize } },
  );
}

interface View {
  begin(bytes: number, totalBytes: number): void;
  show(status: { readonly totalSize: number; readonly downloadedSize: number }): void;
  close(): void;
}

/** Shows progress on stderr: a rewritten line on a terminal, otherwise a line for each tenth. */
async function createView(name: string, quiet: boolean, { stderr, environment }: Host): Promise<View> {
  const { live, columns } = describeTerminal(stderr, environment);
  const update = live ? (await import('log-update')).createLogUpdate(stderr) : undefined;
  let tenth = -1;
  return {
    begin(bytes, totalBytes) {
      if (quiet || bytes === 0) return;
      tenth = Math.floor((bytes / totalBytes) * 10);
      stderr.write(`${name}: resuming from ${formatBytes(bytes)} of ${formatBytes(totalBytes)}\n`);
    },
    show({ totalSize, downloadedSize }) {
      const share = downloadedSize / totalSize;
      if (quiet || !(share >= 0)) return;
      const line = `${name}: ${Math.floor(share * 100)} %  ${formatBytes(downloadedSize)} of ${formatBytes(totalSize)}`;
      if (update !== undefined) return update(fitColumns(line, columns - 1));
      if (Math.floor(share * 10) <= tenth) return;
      tenth = Math.floor(share * 10);
      stderr.write(`${line}\n`);
    },
    close: () => update?.clear(),
  };
}
