import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { HoldfastError, nearestNames } from '@holdfast/core';
import { formatBytes } from './bytes.ts';
import { quoteWord } from './command-words.ts';
import { type ExitCode, interruptionCodes, usageError } from './failure.ts';
import type { Host, Interruption } from './host.ts';
import { toJsonText } from './json-text.ts';
import { type NamedModel, namedModels } from './model-catalogue.ts';
import { type DownloadEnd, downloadFile } from './model-download.ts';
import { createDownloadView, noDownloadView } from './model-download-view.ts';
import { lockModel } from './model-lock.ts';
import type { OpenPartFile } from './model-part.ts';
import { isSafeAddress } from './model-source.ts';
import { findPulledModel, folderUnusable, isModelName, modelsFolder, toModelPath } from './pulled-models.ts';
import { toPrintable } from './terminal-text.ts';

export interface PullOptions {
  /** The name of a model, or the address of a file. */
  readonly model: string;
  /** Of the file at an address. */
  readonly sha256: string | undefined;
  readonly json: boolean;
}

/** What is the machine's, and tests bring along. */
export interface PullTools {
  readonly models: readonly NamedModel[];
  readonly openFile?: OpenPartFile;
  freeBytes(folder: string): Promise<number>;
}

const machineTools: PullTools = {
  models: namedModels,
  async freeBytes(folder) {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
};

type WantedModel = Pick<NamedModel, 'name' | 'url' | 'sha256'> & { readonly bytes: number | undefined };

/**
 * Downloads a model, or goes on with a download, and says how to run it.
 *
 * @throws HoldfastError `usage.model_unknown`, `usage.url_invalid`, `usage.checksum_missing`, `usage.checksum_invalid`, `download.*`.
 */
export async function pullModel(
  { model, sha256, json }: PullOptions,
  host: Host,
  tools: PullTools = machineTools,
): Promise<ExitCode> {
  const wanted = findWanted(model, sha256, tools.models);
  const folder = modelsFolder(host.environment, { directory: host.directory });
  await makeFolder(folder);
  const path = toModelPath(wanted.name, folder);
  const unlock = await lockModel(path);
  const again = `${host.command} model pull ${quoteWord(model)}${sha256 === undefined ? '' : ` --sha256 ${sha256}`}`;
  try {
    if ((await findPulledModel(wanted.name, folder)) !== undefined) {
      const bytes = await checkThere(path, wanted, host);
      report({ wanted, path, bytes, resumedFromBytes: null }, json, host);
      return 0;
    }
    const { end, interruption } = await downloadWatched({ wanted, path, quiet: json }, host, tools);
    if (end.type === 'stopped') {
      host.stderr.write(`Stopped; ${formatBytes(end.bytes)} are kept. To go on from there:\n  ${toPrintable(again)}\n`);
      return interruptionCodes[interruption ?? 'ctrl-c'];
    }
    report({ wanted, path, bytes: end.bytes, resumedFromBytes: end.resumedFromBytes }, json, host);
    return 0;
  } finally {
    await unlock();
  }
}

function findWanted(model: string, sha256: string | undefined, models: readonly NamedModel[]): WantedModel {
  if (model.includes('://')) return readAddress(model, sha256);
  const named = models.find(({ name }) => name === model);
  if (named === undefined) {
    const names = models.map(({ name }) => name);
    const [nearest] = nearestNames(model, names);
    const hint = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`;
    throw usageError(
      'usage.model_unknown',
      `No model is called \`${model}\`.${hint} There are ${names.map((name) => `\`${name}\``).join(', ')}; any other GGUF file is pulled by its https address and \`--sha256\`.`,
    );
  }
  if (sha256 !== undefined) {
    throw usageError('usage.checksum_invalid', `The SHA-256 of \`${model}\` is known: leave out \`--sha256\`.`);
  }
  return named;
}

function readAddress(address: string, sha256: string | undefined): WantedModel {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, name = ''] = /([^/]*)\.gguf$/i.exec(url?.pathname ?? '') ?? [];
  if (url === undefined || !isSafeAddress(url) || !isModelName(name)) {
    throw usageError(
      'usage.url_invalid',
      `\`${address}\` cannot be pulled: expected the https address of one file, which ends with a plain name and \`.gguf\`.`,
    );
  }
  if (sha256 === undefined) {
    throw usageError(
      'usage.checksum_missing',
      `What \`${address}\` has to be is not known: give its SHA-256 with \`--sha256\`. Hugging Face shows it on the page of the file.`,
    );
  }
  if (!/^[0-9a-f]{64}$/i.test(sha256)) {
    throw usageError('usage.checksum_invalid', `\`${sha256}\` is no SHA-256: expected 64 hexadecimal digits.`);
  }
  return { name, url: url.href, sha256: sha256.toLowerCase(), bytes: undefined };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw folderUnusable(folder, cause);
  }
}

/** That what is there under the name is what was meant; how large it is. */
async function checkThere(path: string, { name, sha256 }: WantedModel, { command }: Host): Promise<number> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  const found = hash.digest('hex');
  if (found === sha256) return bytes;
  throw new HoldfastError(
    'download.checksum_wrong',
    `\`${path}\` is another file than \`${name}\` is: its SHA-256 is ${found}, expected was ${sha256}. \`${command} model remove ${name}\` removes it.`,
    { data: { path, expected: sha256, found } },
  );
}

interface Watched {
  readonly wanted: WantedModel;
  readonly path: string;
  readonly quiet: boolean;
}

async function downloadWatched(
  { wanted, path, quiet }: Watched,
  host: Host,
  tools: PullTools,
): Promise<{ readonly end: DownloadEnd; readonly interruption: Interruption | undefined }> {
  const controller = new AbortController();
  let interruption: Interruption | undefined;
  const stopListening = host.onInterrupt((cause) => {
    interruption ??= cause;
    controller.abort();
  });
  const view = quiet ? noDownloadView : createDownloadView(wanted.name, host);
  try {
    const end = await downloadFile(
      { ...wanted, path },
      {
        clock: host.clock,
        signal: controller.signal,
        freeBytes: tools.freeBytes,
        onEvent: (event) => view.show(event),
        ...(tools.openFile === undefined ? {} : { openFile: tools.openFile }),
      },
    );
    return { end, interruption };
  } finally {
    view.close();
    stopListening();
  }
}

interface Pulled {
  readonly wanted: WantedModel;
  readonly path: string;
  readonly bytes: number;
  /** null: it was there before. */
  readonly resumedFromBytes: number | null;
}

function report({ wanted, path, bytes, resumedFromBytes }: Pulled, json: boolean, { stdout, command }: Host): void {
  const { name, url, sha256 } = wanted;
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
