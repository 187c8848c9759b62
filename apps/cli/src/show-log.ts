import type { LogRecord } from '@holdfast/session';
import type { LogReading } from '@holdfast/session/jsonl';
import { formatArguments, formatCallEnd, formatCount, formatDuration, type LineStyle } from './call-line.ts';
import { type ChangeCollector, createChangeCollector, formatChanges } from './changes.ts';
import { type ShownCall, type ShownRecord, toShownRecord } from './log-records.ts';
import { fitColumns, toPrintable, toPrintableBlock, wrapBlock } from './terminal-text.ts';

const maxResultLines = 4;
const maxTextCharacters = 10_000;

/** A session log for people: request, turns, calls with arguments, decisions and outcomes, changes, answer, state of the log. */
export function describeLog(reading: LogReading, style: LineStyle): readonly string[] {
  const { colors } = style;
  const lines: string[] = [];
  const open = new Map<string, string>();
  let changes = createChangeCollector();
  let startedAtMs = 0;
  let running = false;
  for (const [index, record] of reading.records.entries()) {
    const shown = toShownRecord(record);
    if (shown === undefined) continue;
    if ('unknown' in shown) {
      lines.push(colors.dim(`  record ${record.seq}: ${toPrintable(record.type)}`));
      continue;
    }
    const { known } = shown;
    if (known.type === 'run-start') {
      changes = createChangeCollector();
      startedAtMs = known.atMs;
      running = true;
    } else if (known.type === 'tool-call-start') {
      open.set(known.callId, known.name);
    } else if (known.type === 'tool-call-end') {
      open.delete(known.callId);
      if (!failedToApply(known, reading.records, index)) changes.add(known);
    } else if (known.type === 'run-end') {
      running = false;
    }
    lines.push(...describeRecord(known, { style, changes, startedAtMs }));
  }
  if (running) lines.push('', colors.yellow('The log ends before its run does: the run goes on, or it was killed.'));
  for (const name of open.values()) {
    lines.push(
      colors.yellow(`  \`${toPrintable(name)}\` was started and never ended: whether it took effect is not known.`),
    );
  }
  return [...lines, '', describeIntegrity(reading, style)];
}

/** Whether the record of a call was the last that came of it: its changes never reached the files. */
function failedToApply({ callId }: ShownCall, records: readonly LogRecord[], index: number): boolean {
  // Calls run one after the other, so what follows before the next end is about this one.
  for (let at = index + 1; at < records.length; at += 1) {
    const next = records[at];
    if (next?.type === 'resource-apply-failed') return next['callId'] === callId;
    if (next?.type === 'tool-call-end') return false;
  }
  return false;
}

interface RunSoFar {
  readonly style: LineStyle;
  readonly changes: ChangeCollector;
  readonly startedAtMs: number;
}

function describeRecord(record: ShownRecord, { style, changes, startedAtMs }: RunSoFar): readonly string[] {
  const { colors, columns } = style;
  switch (record.type) {
    case 'run-start':
      return [
        '',
        `${colors.bold('Run')}  ${formatTime(record.atMs)}  model ${toPrintable(record.model)}  ${formatCount(record.tools.length, 'tool')}`,
        ...indentBlock('Request: ', record.input, columns),
      ];
    case 'model-message':
      return [
        '',
        `${colors.bold(`Turn ${record.turn}`)}  ${colors.dim(`${formatCount(record.calls.length, 'call')}, ended with ${toPrintable(record.reason)}`)}`,
        // Without calls the text is the answer, which the end of the run has.
        ...(record.calls.length > 0 && record.text.trim() !== '' ? indentBlock('  ', record.text.trim(), columns) : []),
      ];
    case 'tool-call-end':
      return describeCall(record, style);
    case 'tool-call-start':
      return [];
    case 'resource-apply-failed':
      return wrapBlock(`    ${toPrintable(record.message)}`, columns - 1).map(colors.red);
    case 'event':
      return record.events.map(({ type, payload }) =>
        colors.dim(`  event ${toPrintable(type)}  ${formatArguments(payload)}`),
      );
    case 'run-end':
      return [
        '',
        colors.bold(record.status === 'completed' ? 'Answer' : 'Last message'),
        ...(record.text.trim() === '' ? ['  (none)'] : indentBlock('  ', record.text.trim(), columns)),
        ...(record.error === undefined ? [] : [colors.red(`  ${toPrintable(record.error.message)}`)]),
        '',
        `${colors.bold('Status')}  ${toPrintable(record.status)} after ${formatDuration(record.atMs - startedAtMs)}, ${formatCount(record.turns, 'turn')}`,
        ...(changes.list().length === 0
          ? ['Nothing in the workspace was changed.']
          : [colors.bold('Changes'), ...formatChanges(changes.list(), colors)]),
      ];
    default:
      return record satisfies never;
  }
}

function describeCall(call: ShownCall, style: LineStyle): readonly string[] {
  const { colors } = style;
  const notes = [
    ...call.decisions
      .filter(({ type, reason }) => type !== 'allow' || reason !== undefined)
      .map(({ policy, type, reason }) => `${type} by ${policy}${reason === undefined ? '' : `: ${reason}`}`),
    ...(call.abandoned === true ? ['The tool did not stop when told to; its late result was dropped.'] : []),
  ];
  // The lines of a failure say the message already.
  const result = call.outcome.kind === 'ok' ? call.outcome.text.trim() : '';
  const resultLines = result === '' ? [] : toPrintableBlock(result).replaceAll('\t', '  ').split('\n');
  const fit = (text: string): string => fitColumns(text, Math.min(style.columns, 160) - 15);
  const [line = '', ...reasons] = formatCallEnd(call, style);
  return [
    line,
    // The notes name each policy with its reason.
    ...(call.outcome.code === 'policy.denied' ? [] : reasons),
    ...notes
      .flatMap((note) => wrapBlock(toPrintable(note), style.columns - 13).slice(0, 4))
      .map((note) => `            ${note}`),
    ...resultLines.slice(0, maxResultLines).map((line) => colors.dim(`            | ${fit(line)}`)),
    ...(resultLines.length > maxResultLines
      ? [colors.dim(`            | … ${formatCount(resultLines.length - maxResultLines, 'more line')}`)]
      : []),
    ...(call.outcome.kind === 'ok'
      ? formatChanges(
          call.writes.map(({ key, change }) => ({ path: key, change })),
          colors,
        ).map((line) => `          ${line}`)
      : []),
  ];
}

function describeIntegrity({ records, head, torn, problem }: LogReading, { colors }: LineStyle): string {
  const { length } = records;
  if (length === 0 && problem === undefined && torn === undefined) {
    return colors.yellow('The log is empty: its session could not record anything, so it did nothing.');
  }
  if (problem !== undefined) {
    return colors.red(
      `The log is broken at record ${problem.seq} (byte ${problem.offset}): ${toPrintable(problem.message)} (${problem.code}) The ${length} records before it are shown.`,
    );
  }
  if (torn !== undefined) {
    return colors.yellow(
      `The log is torn: its last ${torn.bytes} bytes, from byte ${torn.offset} on, are half a record. The ${length} whole records are shown.`,
    );
  }
  return colors.dim(`${formatCount(length, 'record')}, hash chain intact, head ${head}`);
}

function indentBlock(label: string, text: string, columns: number): readonly string[] {
  const whole = text.length <= maxTextCharacters;
  const shown = whole
    ? text
    : `${text.slice(0, maxTextCharacters).toWellFormed()}…\n(${text.length - maxTextCharacters} more characters; \`--json\` has them)`;
  const [first = '', ...rest] = wrapBlock(toPrintableBlock(shown), columns - label.length);
  return [label + first, ...rest.map((line) => ' '.repeat(label.length) + line)];
}

/** `2026-05-17 09:30:12 UTC`. */
function formatTime(atMs: number): string {
  // A log may hold any number; a time that no calendar has must not end the listing.
  const time = new Date(atMs);
  return Number.isNaN(time.getTime()) ? `at ${atMs} ms` : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
