import { HoldfastError } from '@holdfast/core';
import { formatCount } from '@holdfast/orchestrator/text';
import type { ExportedSlice } from '@holdfast/session';
import type { LogReading } from '@holdfast/session/jsonl';
import type { Command } from 'commander';
import { describeStyle, formatArguments, type LineStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addSessionOptions, type SessionOptions } from '../../flags/session.ts';
import { readSeq } from '../../flags/values.ts';
import { describeIntegrity, isDamaged, readSession, warnOfDamage } from '../../logs/damage.ts';
import { type MissingSlice, type Replayed, replayLog } from '../../logs/replay.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { fitColumns, measureColumns, padColumns, toPrintable, wrapBlock } from '../../terminal/text.ts';

const help = `
Examples:
  $ holdfast replay                             the state at the end of the newest session of this folder
  $ holdfast replay 20260517-093012345-k3x9 --at 12
  $ holdfast replay --json | jq '.slices[] | select(.id == "holdfast/grants").state'

Exits with 1 if the log is torn or was modified, or if the state of a slice needs code that is not part of this program; the rest is
still printed.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command, { json: 'print the state as JSON for `session.import`' })
    .option('--at <seq>', 'rebuild up to this record instead of the last one', readSeq)
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: ReplayOptions) => end(await replaySession({ ...flags, id }, host)));
}

export interface ReplayOptions extends SessionOptions {
  /** The record to rebuild up to. Default: the last one. */
  readonly at?: number | undefined;
}

/**
 * Rebuilds the state of a session from its log and prints it. Returns 1 if the log is damaged or part of the state cannot be rebuilt.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `record_unknown`), `log.*`, `replay.*`.
 */
export async function replaySession(options: ReplayOptions, host: Host): Promise<ExitCode> {
  const { at } = options;
  const { id, reading, title } = await readSession(options, host);
  const last = reading.records.length - 1;
  if (last < 0 && !isDamaged(reading)) {
    throw new HoldfastError('log.unreadable', `The log of session \`${id}\` is empty: there is no state to rebuild.`, {
      data: { reason: 'empty' },
    });
  }
  if (at !== undefined && at > last) {
    throw usageError('record_unknown', `The log has no readable record ${at}; the last one is ${last}.`);
  }
  const replayed = replayLog(at === undefined ? reading.records : reading.records.slice(0, at + 1));
  const { state, missing } = replayed;
  if (options.json) {
    printJson(host, { ...state, missing });
    warnOfDamage(reading, host.stderr);
    for (const slice of missing) host.stderr.write(`warning: ${describeMissing(slice)}\n`);
  } else {
    const style = describeStyle(host);
    printLines(host, [
      title(style),
      `State rebuilt from ${formatCount(state.seq, 'record')}${at === undefined ? '' : `, up to record ${at}`}; no tool, policy or model ran`,
      '',
      ...describeSlices(replayed, style),
      '',
      ...describeReplayed(reading, style),
    ]);
  }
  return isDamaged(reading) || missing.length > 0 ? 1 : 0;
}

/** The state of the log, and its head. */
function describeReplayed(reading: LogReading, style: LineStyle): readonly string[] {
  if (isDamaged(reading)) return [describeIntegrity(reading, style, 'replayed')];
  return [
    `Log intact: ${formatCount(reading.records.length, 'record')}, hash chain valid`,
    style.colors.dim(`Digest of the log, for \`verify --head\`: ${reading.head}`),
  ];
}

const maxItems = 5;
const maxLineColumns = 160;

function describeSlices({ state: { slices }, missing }: Replayed, style: LineStyle): readonly string[] {
  const { colors, columns } = style;
  if (slices.length + missing.length === 0) return ['The session has no slices.'];
  const rows = [
    ...slices.map((slice) => ({ slice, size: describeSize(slice), content: listContent(slice) })),
    ...missing.map((slice) => ({ slice, size: 'not rebuilt', content: [] })),
  ];
  const room = Math.min(columns, maxLineColumns) - others - 1;
  const widest = Math.max(...rows.map(({ slice }) => measureColumns(toPrintable(slice.id))));
  const width = Math.max(8, Math.min(widest, room));
  return [
    colors.bold(`  ${padColumns('slice', width)}  kind   kept   size`),
    ...rows.flatMap(({ slice: { id, kind, retention }, size, content }) => [
      `  ${padColumns(toPrintable(id), width)}  ${kind.padEnd(5)}  ${retention.padEnd(5)}  ${size}`,
      ...content.map((line) => colors.dim(`      ${fitColumns(line, Math.min(columns, maxLineColumns) - 7)}`)),
    ]),
    ...missing.flatMap((slice) => ['', ...wrapBlock(describeMissing(slice), columns - 1).map(colors.yellow)]),
  ];
}

// Indent, gaps, kind, retention and the longest size.
const others = 2 + 2 + 5 + 2 + 5 + 2 + 12;

function describeSize({ kind, state }: ExportedSlice): string {
  return kind !== 'value' && Array.isArray(state) ? formatCount(state.length, 'item') : '1 value';
}

/** The first items of a slice, one per line. */
function listContent({ kind, state }: ExportedSlice): readonly string[] {
  if (kind === 'value' || !Array.isArray(state)) return [toLine(state)];
  // Keyed slices hold pairs; lists end with the latest item.
  const isList = kind === 'list';
  const shown = isList ? state.slice(-maxItems) : state.toSorted(byKey).slice(0, maxItems);
  const more = state.length - shown.length;
  const note = more === 0 ? [] : [`… ${formatCount(more, isList ? 'earlier item' : 'more item')}; use \`--json\``];
  const lines = shown.map((item) => (isList ? toLine(item) : toPairLine(item)));
  return isList ? [...note, ...lines] : [...lines, ...note];
}

function byKey(one: unknown, other: unknown): number {
  const [left, right] = [one, other].map((pair) => (Array.isArray(pair) ? String(pair[0]) : ''));
  return (left ?? '') < (right ?? '') ? -1 : 1;
}

function toPairLine(pair: unknown): string {
  const [key, item] = Array.isArray(pair) ? pair : [];
  return `${toPrintable(String(key))}: ${toLine(item)}`;
}

function toLine(json: unknown): string {
  // Policies keep digests of files they have seen; nobody reads 64 digits.
  if (typeof json === 'string' && /^[0-9a-f]{64}$/.test(json)) return `digest ${json.slice(0, 12)}…`;
  return formatArguments(JSON.stringify(json));
}

function describeMissing({ id, events }: MissingSlice): string {
  return `Cannot rebuild slice \`${toPrintable(id)}\`: the reducers of its events (${events.map(toPrintable).join(', ')}) are not part of this program. Pass the slice to \`replay\` of @holdfast/session in \`slices\`. (replay.failed: slice_missing)`;
}
