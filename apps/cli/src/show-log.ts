import type { LogReading } from '@holdfast/session/jsonl';
import { listCallIds, shortenCallIds } from './call-ids.ts';
import {
  formatArguments,
  formatCallEnd,
  formatChildRun,
  formatCount,
  formatDuration,
  formatLate,
  formatTime,
  type LineStyle,
} from './call-line.ts';
import { CallTree, formatTold, type Told } from './call-tree.ts';
import { type ChangeCollector, createChangeCollector, formatChanges } from './changes.ts';
import { describeIntegrity } from './log-damage.ts';
import { type ShownCall, type ShownRecord, toShownRecord } from './log-records.ts';
import { enterChild, type Place, toCallKey } from './nesting.ts';
import { fitColumns, toPrintable, toPrintableBlock, wrapBlock } from './terminal-text.ts';

const maxResultLines = 4;
const maxTextCharacters = 10_000;

/** A session log for people: request, turns, calls with arguments, decisions and outcomes, changes, answer, state of the log. */
export function describeLog(reading: LogReading, style: LineStyle): readonly string[] {
  const { colors } = style;
  const lines: string[] = [];
  const records = reading.records.map((record) => toShownRecord(record));
  const shortIds = shortenCallIds(listCallIds(reading.records));
  const unapplied = findUnapplied(records);
  const open = new Map<string, string>();
  const tree = new CallTree<ShownRecord>(isShown);
  let changes = createChangeCollector();
  let startedAtMs = 0;
  let running = false;
  const tell = (told: readonly Told<ShownRecord>[]): void => {
    for (const one of told)
      lines.push(
        ...formatTold(one, style, (inner, fitted, depth) =>
          describeTold(inner, { style: fitted, depth, changes, startedAtMs, shortIds }),
        ),
      );
  };
  for (const record of records) {
    if (record === undefined) continue;
    followStarts(record, open);
    if (record.type === 'run-start') {
      changes = createChangeCollector();
      startedAtMs = record.atMs;
      running = true;
    } else if (record.type === 'tool-call-end') {
      // What nested calls changed counts only as the call around them says, and that one lists it again.
      if (record.parentId === undefined && !unapplied.has(record)) changes.add(record);
    } else if (record.type === 'run-end') {
      running = false;
    }
    tell(tree.take(record));
  }
  tell(tree.rest());
  if (running) lines.push('', colors.yellow('The log ends before its run does: the run goes on, or it was killed.'));
  for (const name of open.values()) {
    lines.push(
      colors.yellow(`  \`${toPrintable(name)}\` was started and never ended: whether it took effect is not known.`),
    );
  }
  return [...lines, '', describeIntegrity(reading, style, 'shown')];
}

function isShown({ type }: ShownRecord): boolean {
  return type !== 'tool-call-start';
}

/** Keeps the names of the calls that were started and have not ended, by key. */
function followStarts(record: ShownRecord, open: Map<string, string>, place?: Place): void {
  if (record.type === 'child-event') {
    followStarts(record.event, open, enterChild(record.callId, record.sessionId, place));
  } else if (record.type === 'tool-call-start') {
    open.set(toCallKey(record.callId, place), record.name);
  } else if (record.type === 'tool-call-end') {
    open.delete(toCallKey(record.callId, place));
  }
}

/** The ends of calls whose changes never reached the files, as a later record says. */
function findUnapplied(records: readonly (ShownRecord | undefined)[]): ReadonlySet<ShownRecord> {
  const ends = new Map<string, ShownRecord>();
  const unapplied = new Set<ShownRecord>();
  for (const record of records) {
    if (record?.type === 'tool-call-end') ends.set(record.callId, record);
    const end = record?.type === 'resource-apply-failed' ? ends.get(record.callId) : undefined;
    if (end !== undefined) unapplied.add(end);
  }
  return unapplied;
}

interface RunSoFar {
  readonly style: LineStyle;
  /** 0 outside of calls. */
  readonly depth: number;
  readonly changes: ChangeCollector;
  readonly startedAtMs: number;
  readonly shortIds: ReadonlyMap<string, string>;
}

function describeTold({ item, opening }: Told<ShownRecord>, soFar: RunSoFar): readonly string[] {
  if (opening?.type !== 'run-start') return describeRecord(item, soFar);
  const { model, input, atMs: startedAtMs } = opening;
  return formatChildRun({ model, input, startedAtMs, ...(item.type === 'run-end' ? { end: item } : {}) }, soFar.style);
}

function describeRecord(
  record: ShownRecord,
  { style, depth, changes, startedAtMs, shortIds }: RunSoFar,
): readonly string[] {
  const { colors, columns } = style;
  switch (record.type) {
    case 'run-start':
      return [
        '',
        `${colors.bold('Run')}  ${formatTime(record.atMs)}  model ${toPrintable(record.model)}  ${formatCount(record.tools.length, 'tool')}`,
        ...indentBlock('Request: ', record.input, columns),
      ];
    case 'model-message': {
      // Without calls the text is the answer, which the end of the run has.
      const isAside = record.calls.length > 0 && record.text.trim() !== '';
      const text = isAside ? indentBlock('  ', record.text.trim(), columns) : [];
      const turn = `${formatCount(record.calls.length, 'call')}, ended with ${toPrintable(record.reason)}`;
      return depth > 0 ? text : ['', `${colors.bold(`Turn ${record.turn}`)}  ${colors.dim(turn)}`, ...text];
    }
    case 'tool-call-end':
      return describeCall(record, shortIds.get(record.callId) ?? record.callId, { style, depth });
    case 'tool-call-late':
      return [formatLate(record, style)];
    case 'resource-apply-failed':
    case 'resource-discard-failed':
    case 'resource-dispose-failed':
    case 'close-error':
    case 'subscriber-error':
      return wrapBlock(`    ${describeProblem(record)}`, columns - 1).map(colors.red);
    case 'restore':
      return [colors.dim(`  The state was put back to what it was after ${formatCount(record.toSeq, 'record')}.`)];
    case 'reset':
      return [colors.dim('  The state was put back to its beginning.')];
    case 'import':
      return [colors.dim(`  The state was replaced: ${formatCount(record.slices.length, 'slice')} came from outside.`)];
    case 'other':
      return [colors.dim(`  record ${record.seq}: ${toPrintable(record.name)}`)];
    // The tree takes the one apart, and shows nothing of the other.
    case 'child-event':
    case 'tool-call-start':
      return [];
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

const problems = {
  'resource-apply-failed': '',
  'resource-discard-failed': 'What a call had staged could not be cleaned up: ',
  'resource-dispose-failed': 'could not be disposed of: ',
  'close-error': 'When the session was closed: ',
  'subscriber-error': 'An observer of the session failed: ',
} as const;

function describeProblem(problem: ShownRecord & { readonly type: keyof typeof problems }): string {
  const resource = 'resource' in problem && problem.resource !== undefined ? `\`${problem.resource}\` ` : '';
  return toPrintable(`${resource}${problems[problem.type]}${problem.message}`);
}

// On a narrower line the arguments need the room; `--json` has the ids in any case.
const minColumnsForId = 60;

function describeCall(
  call: ShownCall,
  shortId: string,
  { style, depth }: Pick<RunSoFar, 'style' | 'depth'>,
): readonly string[] {
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
  const id = style.columns < minColumnsForId ? '' : `  ${fitColumns(toPrintable(shortId), 24)}`;
  const [line = '', ...reasons] = formatCallEnd(call, { ...style, columns: style.columns - id.length });
  return [
    line + colors.dim(id),
    // The notes name each policy with its reason.
    ...(call.outcome.code === 'policy.denied' ? [] : reasons),
    ...notes
      .flatMap((note) => wrapBlock(toPrintable(note), style.columns - 13).slice(0, 4))
      .map((note) => `            ${note}`),
    ...resultLines.slice(0, maxResultLines).map((line) => colors.dim(`            | ${fit(line)}`)),
    ...(resultLines.length > maxResultLines
      ? [colors.dim(`            | … ${formatCount(resultLines.length - maxResultLines, 'more line')}`)]
      : []),
    // Of nested calls the one around them tells, once it has succeeded.
    ...(call.outcome.kind === 'ok' && depth === 0
      ? formatChanges(
          call.writes.map(({ key, change }) => ({ path: key, change })),
          colors,
        ).map((line) => `          ${line}`)
      : []),
  ];
}

function indentBlock(label: string, text: string, columns: number): readonly string[] {
  const whole = text.length <= maxTextCharacters;
  const shown = whole
    ? text
    : `${text.slice(0, maxTextCharacters).toWellFormed()}…\n(${text.length - maxTextCharacters} more characters; \`--json\` has them)`;
  const [first = '', ...rest] = wrapBlock(toPrintableBlock(shown), columns - label.length);
  return [label + first, ...rest.map((line) => ' '.repeat(label.length) + line)];
}
