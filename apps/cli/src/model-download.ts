import { dirname } from 'node:path';
import { type Clock, describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import { formatBytes } from './bytes.ts';
import { DownloadPart, type OpenPartFile, openPartFile } from './model-part.ts';
import { type FileReply, requestFile } from './model-source.ts';

export interface WantedFile {
  readonly url: string;
  /** In lower-case hex. */
  readonly sha256: string;
  /** `undefined`: as many as the server says. */
  readonly bytes: number | undefined;
  /** Where it goes when it is whole and right. */
  readonly path: string;
}

export type DownloadEvent =
  /** What an earlier pull left is read once more. */
  | { readonly type: 'taken-up'; readonly bytes: number; readonly totalBytes: number }
  /** What was there is of no use any more. */
  | { readonly type: 'anew' }
  | { readonly type: 'bytes'; readonly bytes: number; readonly totalBytes: number }
  | { readonly type: 'retry'; readonly reason: string; readonly delayMs: number };

export interface DownloadTools {
  readonly clock: Clock;
  /** Stops it; what has come is kept. */
  readonly signal: AbortSignal;
  /** On the disk of a folder. */
  freeBytes(folder: string): Promise<number>;
  onEvent(event: DownloadEvent): void;
  /** Default: files of this machine. */
  readonly openFile?: OpenPartFile;
}

export type DownloadEnd =
  | { readonly type: 'done'; readonly bytes: number; readonly resumedFromBytes: number }
  | { readonly type: 'stopped'; readonly bytes: number };

/** Of a connection that says nothing. */
const stallMs = 30_000;
const retryDelaysMs: readonly number[] = [1000, 2000, 4000, 8000, 16_000];
/** Who brings at least so much more than ever before has not failed. */
const progressBytes = 65_536;

/**
 * Downloads a file whose SHA-256 is known; goes on with what an earlier try left. Nothing is at `path` until all of it is right.
 *
 * @throws HoldfastError `download.checksum_wrong`, `download.size_wrong`, `download.size_unknown`, `download.disk_full`,
 * `download.unwritable`, `download.unreachable`, `download.broken`, and as `requestFile`.
 */
export async function downloadFile(wanted: WantedFile, tools: DownloadTools): Promise<DownloadEnd> {
  const { path, sha256, url } = wanted;
  const { signal, onEvent } = tools;
  const part = new DownloadPart(path, wanted, tools.openFile ?? openPartFile);
  try {
    await untilStopped(signal, () => part.takeUp(signal));
    const { bytes: resumedFromBytes, source } = part;
    if (source !== undefined) onEvent({ type: 'taken-up', bytes: resumedFromBytes, totalBytes: source.totalBytes });
    await untilStopped(signal, () => fill(part, wanted, tools));
    if (signal.aborted) return { type: 'stopped', bytes: part.bytes };
    const found = part.digest();
    if (found !== sha256) {
      await part.remove();
      throw new HoldfastError(
        'download.checksum_wrong',
        `What came from \`${url}\` is not the file that was meant: its SHA-256 is ${found}, expected was ${sha256}. It is removed, and the next pull begins anew.`,
        { data: { url, expected: sha256, found } },
      );
    }
    await part.keep();
    return { type: 'done', bytes: part.bytes, resumedFromBytes };
  } finally {
    await part.close();
  }
}

/** What is thrown because it was stopped is no failure. */
async function untilStopped(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!signal.aborted || isHoldfastError(thrown)) throw thrown;
  }
}

/** Asks until everything is there, or nothing more comes. */
async function fill(part: DownloadPart, wanted: WantedFile, tools: DownloadTools): Promise<void> {
  const { signal, clock, onEvent } = tools;
  const firstBytes = part.bytes;
  let failures = 0;
  let mostBytes = firstBytes;
  while (!part.isWhole && !signal.aborted) {
    const reply = await receive(part, wanted, tools);
    if (reply.type === 'received') continue;
    if (part.bytes >= mostBytes + progressBytes) failures = 0;
    const delayMs = Math.max(retryDelaysMs[failures] ?? 0, reply.retryAfterMs);
    if (failures === retryDelaysMs.length || (reply.isFinal && mostBytes === firstBytes))
      throw gaveUp(reply, wanted.url, part.bytes);
    failures += 1;
    mostBytes = Math.max(mostBytes, part.bytes);
    onEvent({ type: 'retry', reason: reply.reason, delayMs });
    await wait(delayMs, { clock, signal });
  }
}

type Received = { readonly type: 'received' } | Failure;

/** Of the server or of the way there; it may be better later. */
interface Failure {
  readonly type: 'failed';
  readonly reason: string;
  readonly retryAfterMs: number;
  /** Whether a first try that ends so is the last. */
  readonly isFinal: boolean;
  readonly cause?: unknown;
}

/** One request, and what comes of it. */
async function receive(part: DownloadPart, wanted: WantedFile, tools: DownloadTools): Promise<Received> {
  const stall = watchStall(tools.clock);
  const signal = AbortSignal.any([tools.signal, stall.signal]);
  try {
    const reply = await requestFile({
      url: wanted.url,
      fromByte: part.bytes,
      validator: part.source?.validator ?? null,
      signal,
    });
    if (reply.type === 'later') {
      const { status, retryAfterMs } = reply;
      return { type: 'failed', reason: `the server answered ${status}`, retryAfterMs, isFinal: false };
    }
    const body = await prepare(part, reply, { wanted, tools });
    if (body === undefined) return { type: 'received' };
    for await (const chunk of body) {
      stall.restart();
      await take(part, chunk, { wanted, tools });
    }
    if (part.isWhole) return { type: 'received' };
    return { type: 'failed', reason: 'the connection ended too early', retryAfterMs: 0, isFinal: false };
  } catch (thrown) {
    if (isHoldfastError(thrown) || tools.signal.aborted) throw thrown;
    if (stall.signal.aborted) {
      const reason = `nothing came for ${stallMs / 1000} seconds`;
      return { type: 'failed', reason, retryAfterMs: 0, isFinal: false };
    }
    return describeBreak(thrown);
  } finally {
    stall.end();
  }
}

interface Receiving {
  readonly wanted: WantedFile;
  readonly tools: DownloadTools;
}

/** Makes the part ready for a reply; `undefined` when it has to be asked for anew. */
async function prepare(
  part: DownloadPart,
  reply: Exclude<FileReply, { type: 'later' }>,
  { wanted, tools }: Receiving,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const { url, path } = wanted;
  const source = part.source;
  // The server that has a range of another length has another file.
  if (reply.type === 'rest' && source?.totalBytes === reply.totalBytes) {
    await checkRoom(path, reply.totalBytes - part.bytes, tools);
    return reply.body;
  }
  if (part.bytes > 0) tools.onEvent({ type: 'anew' });
  if (reply.type !== 'whole') {
    part.forget();
    return undefined;
  }
  const totalBytes = reply.totalBytes ?? wanted.bytes;
  if (totalBytes === undefined) {
    throw new HoldfastError('download.size_unknown', `The server does not say how large \`${url}\` is.`, {
      data: { url },
    });
  }
  checkSize(totalBytes, wanted);
  await checkRoom(path, totalBytes - part.bytes, tools);
  await part.begin({ validator: reply.validator, totalBytes });
  return reply.body;
}

async function take(part: DownloadPart, chunk: Uint8Array, { wanted, tools }: Receiving): Promise<void> {
  const totalBytes = part.source?.totalBytes ?? 0;
  if (part.bytes + chunk.length > totalBytes) {
    // Of what is none of the file, nothing is to be gone on with.
    await part.remove();
    checkSize(part.bytes + chunk.length, { url: wanted.url, bytes: totalBytes });
  }
  await part.append(chunk);
  tools.onEvent({ type: 'bytes', bytes: part.bytes, totalBytes });
}

function checkSize(bytes: number, { url, bytes: expected }: Pick<WantedFile, 'url' | 'bytes'>): void {
  if (expected === undefined || bytes === expected) return;
  throw new HoldfastError(
    'download.size_wrong',
    `The server sends ${bytes} bytes for \`${url}\`, expected were ${expected}: it is not the file that was meant.`,
    { data: { url, expected, found: bytes } },
  );
}

async function checkRoom(path: string, bytes: number, { freeBytes }: DownloadTools): Promise<void> {
  const free = await freeBytes(dirname(path));
  if (bytes <= free) return;
  throw new HoldfastError(
    'download.disk_full',
    `\`${path}\` needs ${formatBytes(bytes)} more, and its disk has ${formatBytes(free)} left. Make room, or set \`HOLDFAST_MODELS\` to a folder on another disk.`,
    { data: { path, neededBytes: bytes, freeBytes: free } },
  );
}

// No way to the server, or a server that is not who it says: the next second will not be better.
const finalCodes =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ENETDOWN|CERT_.*|ERR_TLS_.*|ERR_SSL_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/;

function describeBreak(thrown: unknown): Failure {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = `the connection broke: ${code === '' ? describeThrown(cause) : code}`;
  return { type: 'failed', reason, retryAfterMs: 0, isFinal: finalCodes.test(code), cause: thrown };
}

function gaveUp({ reason, isFinal, cause }: Failure, url: string, bytes: number): HoldfastError {
  const { host } = new URL(url);
  const kept = bytes === 0 ? '' : ' What has come is kept: the same command goes on from there.';
  return isFinal
    ? new HoldfastError(
        'download.unreachable',
        `\`${host}\` cannot be reached: ${reason}. Is there a network? Behind a proxy, set \`HTTPS_PROXY\` and \`NODE_USE_ENV_PROXY=1\`.${kept}`,
        { data: { url }, cause },
      )
    : new HoldfastError(
        'download.broken',
        `The download from \`${host}\` failed ${retryDelaysMs.length + 1} times; at last, ${reason}.${kept}`,
        { data: { url }, cause },
      );
}

/** Fires `signal` when it was not restarted for too long; and at the end, so that nothing of a request is left. */
function watchStall(clock: Clock): { readonly signal: AbortSignal; restart(): void; end(): void } {
  const controller = new AbortController();
  const start = (): (() => void) => clock.after(stallMs, () => controller.abort());
  let cancel = start();
  return {
    signal: controller.signal,
    restart() {
      cancel();
      cancel = start();
    },
    end() {
      cancel();
      controller.abort();
    },
  };
}

async function wait(
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
  cancel();
}
