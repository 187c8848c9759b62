import { createLogUpdate } from 'log-update';
import { formatBytes } from './bytes.ts';
import { formatDuration } from './call-line.ts';
import { createColors } from './colors.ts';
import { describeTerminal, type Host } from './host.ts';
import type { DownloadEvent } from './model-download.ts';
import { fitColumns, toPrintable } from './terminal-text.ts';

/** Tells on stderr how far a download is. */
export interface DownloadView {
  show(event: DownloadEvent): void;
  /** Takes away what was only for the moment. */
  close(): void;
}

/** Shows nothing. */
export const noDownloadView: DownloadView = { show: () => undefined, close: () => undefined };

const frameMs = 100;
/** The rate is that of the last seconds. */
const rateMs = 5000;
const plainSteps = 10;

/** A bar that is rewritten on a terminal; elsewhere a line for each tenth. */
export function createDownloadView(name: string, { stderr, environment, clock }: Host): DownloadView {
  const { color, live, columns } = describeTerminal(stderr, environment);
  const colors = createColors(color);
  const update = live ? createLogUpdate(stderr) : undefined;
  const rate = createRate();
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let step = -1;

  const print = (text: string): void => {
    const line = fitColumns(toPrintable(text), Math.min(columns, 400) - 1);
    if (update === undefined) stderr.write(`${line}\n`);
    else update.persist(colors.dim(line));
  };
  const describe = (bytes: number, totalBytes: number, nowMs: number): string => {
    const share = totalBytes === 0 ? 1 : bytes / totalBytes;
    const perSecond = rate.measure(bytes, nowMs);
    const leftMs = ((totalBytes - bytes) / perSecond) * 1000;
    const pace = Number.isFinite(leftMs) && perSecond > 0 ? `  ${formatBytes(perSecond)}/s` : '';
    const left = pace === '' || bytes === totalBytes ? '' : `  ${formatDuration(Math.max(1000, leftMs))} left`;
    return `${formatPercent(share)}  ${formatBytes(bytes)} of ${formatBytes(totalBytes)}${pace}${left}`;
  };
  const showBytes = (bytes: number, totalBytes: number): void => {
    const nowMs = clock.now();
    const isEnd = bytes === totalBytes;
    if (update !== undefined) {
      if (nowMs - drawnAtMs < frameMs && !isEnd) return;
      drawnAtMs = nowMs;
      const words = describe(bytes, totalBytes, nowMs);
      const room = columns - words.length - 3;
      const bar = room < 10 ? '' : `${drawBar(totalBytes === 0 ? 1 : bytes / totalBytes, Math.min(room, 40))}  `;
      update(colors.cyan(fitColumns(`${bar}${words}`, columns - 1)));
      return;
    }
    rate.note(bytes, nowMs);
    const reached = totalBytes === 0 ? plainSteps : Math.floor((bytes / totalBytes) * plainSteps);
    if (reached === step) return;
    step = reached;
    print(`${name}: ${describe(bytes, totalBytes, nowMs)}`);
  };

  return {
    show(event) {
      switch (event.type) {
        case 'taken-up':
          print(`${name}: going on from ${formatBytes(event.bytes)} of ${formatBytes(event.totalBytes)}`);
          step = Math.floor((event.bytes / event.totalBytes) * plainSteps);
          break;
        case 'anew':
          print(`${name}: what was there cannot be gone on with; beginning anew`);
          rate.forget();
          step = -1;
          break;
        case 'retry':
          print(`${name}: ${event.reason}; trying again in ${formatDuration(event.delayMs)}`);
          break;
        case 'bytes':
          showBytes(event.bytes, event.totalBytes);
          break;
        default:
          event satisfies never;
      }
    },
    close() {
      update?.clear();
    },
  };
}

function formatPercent(share: number): string {
  // All of it is only 100 %.
  return `${String(Math.floor(share * 100)).padStart(3)} %`;
}

function drawBar(share: number, width: number): string {
  const filled = Math.floor(share * width);
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
}

interface Rate {
  note(bytes: number, atMs: number): void;
  /** Notes it, and answers bytes a second; 0 where there is nothing to go by. */
  measure(bytes: number, atMs: number): number;
  forget(): void;
}

function createRate(): Rate {
  let samples: { readonly bytes: number; readonly atMs: number }[] = [];
  const note = (bytes: number, atMs: number): void => {
    const last = samples.at(-1);
    if (last !== undefined && atMs - last.atMs < frameMs) return;
    samples = [...samples.filter((sample) => sample.atMs >= atMs - rateMs), { bytes, atMs }];
  };
  return {
    note,
    measure(bytes, atMs) {
      const [first] = samples;
      note(bytes, atMs);
      if (first === undefined || atMs <= first.atMs) return 0;
      return ((bytes - first.bytes) / (atMs - first.atMs)) * 1000;
    },
    forget() {
      samples = [];
    },
  };
}
