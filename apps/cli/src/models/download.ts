import { statfs } from 'node:fs/promises';
import { describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import { createLogUpdate } from 'log-update';
import { describeTerminal, type Host, type Interruption } from '../terminal/host.ts';
import { fitColumns, formatBytes } from '../terminal/text.ts';
import type { WantedModel } from './catalogue.ts';
import { bindingPackage, graphicsHint } from './local.ts';
import { findEntry } from './package.ts';

/** As far as it is used here; `node-llama-cpp` has the rest. */
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

/** The downloader of `node-llama-cpp`, as it is installed in the directory. @throws HoldfastError `usage.local_packages_missing`. */
export async function importDownloader(directory: string): Promise<CreateDownloader> {
  const entry = await findEntry(bindingPackage, directory);
  if (entry === undefined) {
    throw new HoldfastError(
      'usage.local_packages_missing',
      `\`model pull\` downloads with \`${bindingPackage}\`, which is not installed here. Run \`npm install ${bindingPackage}\`.`,
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
 * Downloads a model into the folder `part`, or goes on with it: the whole file, not yet checked; or why it was stopped.
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
  const view = createView(name, quiet, host);
  try {
    await probe(url, signal);
    // It is called by its digest until it is checked: another file of the same name is not gone on with.
    const options = { modelUri: url, dirPath: part, fileName: sha256, deleteTempFileOnCancel: false };
    // What cannot be stopped yet is left alone; the end of the program ends it.
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
      `The download of \`${url}\` failed: ${describeThrown(thrown)} What has come is kept: the same command goes on from there.`,
      { data: { url }, cause: thrown },
    );
  } finally {
    view.close();
    stopListening();
  }
}

/** Whether the server has the file: the downloader would try for minutes, and say little. */
async function probe(url: string, signal: AbortSignal): Promise<void> {
  const server = new URL(url).host;
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (cause) {
    throw new HoldfastError(
      'download.unreachable',
      `\`${server}\` cannot be reached. Is there a network? Behind a proxy, set \`HTTPS_PROXY\` and \`NODE_USE_ENV_PROXY=1\`.`,
      { data: { url }, cause },
    );
  }
  const { status, ok, body } = response;
  await body?.cancel();
  if (ok) return;
  const data = { status, url };
  if (status === 404 || status === 410)
    throw new HoldfastError('download.missing', `\`${server}\` has no such file (${status}): \`${url}\`.`, { data });
  if (status === 401 || status === 403) {
    throw new HoldfastError(
      'download.denied',
      `\`${server}\` does not give the file to everybody (${status}): \`${url}\`. Download it yourself, and run it with \`local:FILE\`.`,
      { data },
    );
  }
  throw new HoldfastError('download.failed', `\`${server}\` answered ${status} for \`${url}\`.`, { data });
}

async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new HoldfastError(
    'download.disk_full',
    `The model needs ${formatBytes(bytes)} more, and the disk of \`${folder}\` has ${formatBytes(bavail * bsize)} left. Make room, or set \`HOLDFAST_MODELS\` to a folder on another disk.`,
    { data: { folder, neededBytes: bytes, freeBytes: bavail * bsize } },
  );
}

interface View {
  begin(bytes: number, totalBytes: number): void;
  show(status: { readonly totalSize: number; readonly downloadedSize: number }): void;
  close(): void;
}

/** How far it is, on stderr: a line that is rewritten on a terminal, elsewhere one for each tenth. */
function createView(name: string, quiet: boolean, { stderr, environment }: Host): View {
  const { live, columns } = describeTerminal(stderr, environment);
  const update = live ? createLogUpdate(stderr) : undefined;
  let tenth = -1;
  return {
    begin(bytes, totalBytes) {
      if (quiet || bytes === 0) return;
      tenth = Math.floor((bytes / totalBytes) * 10);
      stderr.write(`${name}: going on from ${formatBytes(bytes)} of ${formatBytes(totalBytes)}\n`);
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
