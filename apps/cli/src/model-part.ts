import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { HoldfastError, isPlainObject } from '@holdfast/core';

/** Where the bytes go; tests bring their own. */
export interface PartFile {
  /** Writes at the end. */
  appendFile(bytes: Uint8Array): Promise<void>;
  truncate(): Promise<void>;
  /** Answers when the disk has it. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export type OpenPartFile = (path: string) => Promise<PartFile>;

export const openPartFile: OpenPartFile = (path) => open(path, 'a');

/** Which file it is a part of. */
export interface PartOrigin {
  readonly url: string;
  readonly sha256: string;
}

/** What the server said of the file when the part was begun. */
export interface PartSource {
  /** Says on a later day whether it is still the same file; null: the server does not say, and nothing can be resumed. */
  readonly validator: string | null;
  readonly totalBytes: number;
}

/** A file that is not there as a whole yet: `<path>.part`, and beside it in `<path>.part.json` what it is a part of. */
export class DownloadPart {
  readonly #path: string;
  readonly #origin: PartOrigin;
  readonly #openFile: OpenPartFile;
  #file: PartFile | undefined;
  #hash: Hash = createHash('sha256');
  #bytes = 0;
  #source: PartSource | undefined;

  constructor(path: string, origin: PartOrigin, openFile: OpenPartFile = openPartFile) {
    this.#path = path;
    this.#origin = origin;
    this.#openFile = openFile;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `undefined` before anything was begun. */
  get source(): PartSource | undefined {
    return this.#source;
  }

  get isWhole(): boolean {
    return this.#source !== undefined && this.#bytes === this.#source.totalBytes;
  }

  /** Takes up what an earlier pull left, if it is a part of the same file. @throws when `signal` fires, and what the disk throws. */
  async takeUp(signal: AbortSignal): Promise<void> {
    const left = await readPart(this.#path, this.#origin);
    if (left === undefined || left.bytes === 0) return;
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(`${this.#path}.part`, { signal })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    await this.#change(async () => {
      this.#file = await this.#openFile(`${this.#path}.part`);
    });
    this.#hash = hash;
    this.#bytes = bytes;
    this.#source = left.source;
  }

  /** Drops what is there and begins with the file that the server has now. @throws HoldfastError as `append`. */
  async begin(source: PartSource): Promise<void> {
    this.#bytes = 0;
    this.#hash = createHash('sha256');
    this.#source = source;
    await this.#change(async () => {
      this.#file ??= await this.#openFile(`${this.#path}.part`);
      await this.#file.truncate();
      await writeFile(`${this.#path}.part.json`, JSON.stringify({ ...this.#origin, ...source }));
    });
  }

  /** Goes on as if there were nothing. What the disk has goes with the next beginning. */
  forget(): void {
    this.#bytes = 0;
    this.#source = undefined;
  }

  /** @throws HoldfastError `download.disk_full`, `download.unwritable`. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#change(() => this.#file?.appendFile(bytes));
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** SHA-256 of all that is there, in lower-case hex. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Puts the whole file where it belongs. @throws HoldfastError as `append`. */
  async keep(): Promise<void> {
    await this.#change(async () => {
      await this.#file?.sync();
      await this.close();
      await rename(`${this.#path}.part`, this.#path);
      await rm(`${this.#path}.part.json`, { force: true });
    });
  }

  async remove(): Promise<void> {
    await this.close();
    await removePart(this.#path);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #change(change: () => Promise<void> | undefined): Promise<void> {
    try {
      await change();
    } catch (cause) {
      throw describeDiskError(cause, this.#path);
    }
  }
}

/** The part of the model at `path`: how much of it is there. `undefined` without one that can be gone on with. */
export async function readPart(
  path: string,
  origin: PartOrigin,
): Promise<{ readonly bytes: number; readonly source: PartSource } | undefined> {
  let record: unknown;
  let bytes: number;
  try {
    record = JSON.parse(await readFile(`${path}.part.json`, 'utf8'));
    bytes = (await stat(`${path}.part`)).size;
  } catch {
    // Whatever is missing or broken, beginning anew needs none of it.
    return undefined;
  }
  if (!isPlainObject(record) || record['url'] !== origin.url || record['sha256'] !== origin.sha256) return undefined;
  const { validator, totalBytes } = record;
  // Without a validator nobody knows whether the server still has the same file.
  if (typeof validator !== 'string' || typeof totalBytes !== 'number' || bytes > totalBytes) return undefined;
  return { bytes, source: { validator, totalBytes } };
}

export async function removePart(path: string): Promise<void> {
  await rm(`${path}.part.json`, { force: true });
  await rm(`${path}.part`, { force: true });
}

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

function describeDiskError(cause: unknown, path: string): HoldfastError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  if (fullCodes.has(code)) {
    return new HoldfastError(
      'download.disk_full',
      `The disk of \`${path}\` is full. What has come is kept: make room, and the same command goes on from there.`,
      { data: { path }, cause },
    );
  }
  return new HoldfastError('download.unwritable', `\`${path}\` cannot be written (${code}).`, {
    data: { path },
    cause,
  });
}
