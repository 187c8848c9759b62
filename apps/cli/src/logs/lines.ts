import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import type { LogReading } from '@holdfast/session/jsonl';
import { type ChangeCollector, createChangeCollector, formatChanges } from '../calls/changes.ts';
import { formatFeedback, formatUnfinished } from '../calls/feedback.ts';
import { labelText, quoteResult, quoteText } from '../calls/foreign-text.ts';
import { listCallIds, shortenCallIds } from '../calls/ids.ts';
import {
  describePolicyDecision,
  formatCallEnd,
  formatChildRun,
  formatLate,
  formatTime,
  type LineStyle,
} from '../calls/line.ts';
import { CallTree, formatTold, type Told } from '../calls/tree.ts';
import { fitColumns, toPrintable, wrapBlock } from '../terminal/text.ts';
import { describeIntegrity } from './damage.ts';
import { LeftOpen } from './left-open.ts';
import { describeEvent, describeMcpRecord } from './mcp-records.ts';
import { describeGrant, describePlan, describePlanRecord, describeProblem, describeSaid } from './plan-run.ts';
import { type ShownCall, type ShownRecord, toShownRecord } from './records.ts';

const maxResultLines = 4;
const maxTextCharacters = 10_000;

/** Describes a session log: request, turns, calls with arguments, decisions and outcomes, changes, answer, plan, integrity. */
export function describeLog(reading: LogReading, style: LineStyle): readonly string[] {
  const { colors } = style;
  const lines: string[] = [];
  const records = reading.records.map((record) => toShownRecord(record));
  const shortIds = shortenCallIds(listCallIds(reading.records));
  const unapplied = findUnapplied(records);
  const resumed = findResumed(records);
  const sentBack = findSentBack(records);
  const open = new LeftOpen();
  const tree = new CallTree<ShownRecord>(isShown);
  let changes = createChangeCollector();
  let startedAtMs = 0;
  let running = false;
  const tell = (told: readonly Told<ShownRecord>[]): void => {
    for (const one of told)
      lines.push(
        ...formatTold(one, style, (inner, fitted, depth) =>
          describeTold(inner, { style: fitted, depth, changes, startedAtMs, shortIds, resumed, sentBack }),
        ),
      );
  };
  for (const record of records) {
    if (record === undefined) continue;
    open.follow(record);
    if (record.type === 'run-start' || record.type === 'plan-start') {
      changes = createChangeCollector();
      startedAtMs = record.atMs;
      running = true;
    } else if (record.type === 'tool-call-end') {
      // The parent call decides whether nested changes count, and lists them again.
      if (record.parentId === undefined && !unapplied.has(record)) changes.add(record);
    } else if (record.type === 'run-resume' || record.type === 'plan-resume') {
      running = true;
    } else if (record.type === 'run-end' || record.type === 'plan-end') {
      running = false;
    }
    tell(tree.take(record));
  }
  tell(tree.rest());
  if (running) lines.push('', colors.yellow('The log ends before the run: the run is still active, or was killed.'));
  lines.push(...open.describe((callId) => shortIds.get(callId) ?? callId).map(colors.yellow));
  return [...lines, ...describePlan(reading.records, style), '', describeIntegrity(reading, style, 'shown')];
}

function isShown({ type }: ShownRecord): boolean {
  return type !== 'tool-call-start';
}

/** The ends of calls whose changes never reached the files, according to a later record. */
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

/** The ends of runs that were resumed later. */
function findResumed(records: readonly (ShownRecord | undefined)[]): ReadonlySet<ShownRecord> {
  const resumed = new Set<ShownRecord>();
  let end: ShownRecord | undefined;
  for (const record of records) {
    if (record?.type === 'run-end' || record?.type === 'plan-end')
      end = record.status === 'suspended' ? record : undefined;
    else if ((record?.type === 'run-resume' || record?.type === 'plan-resume') && end !== undefined) resumed.add(end);
  }
  return resumed;
}

/** Messages without calls that were not the answer: a checker or the output format sent the model back. */
function findSentBack(records: readonly (ShownRecord | undefined)[]): ReadonlySet<ShownRecord> {
  const sentBack = new Set<ShownRecord>();
  let last: ShownRecord | undefined;
  for (const record of records) {
    if (record?.type === 'model-message') last = record.calls.length === 0 ? record : undefined;
    else if (record?.type === 'feedback' && record.given.length > 0 && last !== undefined) sentBack.add(last);
  }
  return sentBack;
}

interface RunSoFar {
  readonly style: LineStyle;
  readonly sentBack: ReadonlySet<ShownRecord>;
  /** 0 at the top level. */
  readonly depth: number;
  readonly changes: ChangeCollector;
  readonly startedAtMs: number;
  readonly shortIds: ReadonlyMap<string, string>;
  readonly resumed: ReadonlySet<ShownRecord>;
}

function describeTold({ item, opening }: Told<ShownRecord>, soFar: RunSoFar): readonly string[] {
  if (opening?.type !== 'run-start') return describeRecord(item, soFar);
  const { model, input, atMs: startedAtMs } = opening;
  return formatChildRun({ model, input, startedAtMs, ...(item.type === 'run-end' ? { end: item } : {}) }, soFar.style);
}

function describeRecord(
  record: ShownRecord,
  { style, depth, changes, startedAtMs, shortIds, resumed, sentBack }: RunSoFar,
): readonly string[] {
  const { colors, columns } = style;
  switch (record.type) {
    case 'run-start':
      return [
        '',
        `${colors.bold('Run')}  ${formatTime(record.atMs)}  model ${toPrintable(record.model)}  ${formatCount(record.tools.length, 'tool')}`,
        ...labelText('Request: ', cutText(record.input), columns),
      ];
    case 'model-message': {
      // Without calls the text is the answer, shown at the end of the run, unless it was sent back.
      const isAside = (record.calls.length > 0 || sentBack.has(record)) && record.text.trim() !== '';
      const text = isAside ? quoteText(cutText(record.text.trim()), { columns, indent: 2 }) : [];
      const turn = `${formatCount(record.calls.length, 'call')}, ended with ${toPrintable(record.reason)}`;
      return depth > 0 ? text : ['', `${colors.bold(`Turn ${record.turn}`)}  ${colors.dim(turn)}`, ...text];
    }
    case 'tool-call-end':
      return describeCall(record, shortIds.get(record.callId) ?? record.callId, { style, depth });
    case 'tool-call-late':
      return [formatLate(record, style)];
    case 'run-resume':
    case 'plan-resume':
      if (depth > 0) return [];
      return ['', `${colors.bold('Resumed')}  ${formatTime(record.atMs)}`];
    case 'plan-start':
    case 'plan-node':
      return describePlanRecord(record, style, depth);
    case 'feedback':
      return formatFeedback(record, style);
    case 'approval-answer':
    case 'call-resolution': {
      const id = toPrintable(shortIds.get(record.callId) ?? record.callId);
      return describeSaid(record)
        .flatMap((said) => wrapBlock(`  call ${fitColumns(id, 24)} was ${said}`, columns - 1))
        .map(colors.cyan);
    }
    case 'resource-apply-failed':
    case 'resource-recovery-failed':
    case 'resource-discard-failed':
    case 'resource-dispose-failed':
    case 'close-error':
    case 'subscriber-error':
      return labelText('    ', describeProblem(record), columns).map(colors.red);
    case 'guard-kept':
    case 'guard-noted':
    case 'guard-undone':
    case 'mcp-question':
    case 'mcp-refused':
    case 'mcp-trace':
      return wrapBlock(`  ${toPrintable(describeMcpRecord(record))}`, columns - 1).map(colors.dim);
    case 'restore':
      return [colors.dim(`  The state was restored to ${formatCount(record.toSeq, 'record')}.`)];
    case 'reset':
      return [colors.dim('  The state was reset.')];
    case 'import':
      return [colors.dim(`  The state was replaced: ${formatCount(record.slices.length, 'slice')} imported.`)];
    case 'other':
      return [colors.dim(`  record ${record.seq}: ${toPrintable(record.name)}`)];
    // Handled by the tree, and not shown.
    case 'child-event':
    case 'tool-call-start':
    // Shown with its answer, or at the end of the listing.
    case 'approval-request':
      return [];
    case 'event':
      return [
        ...record.events.flatMap((event) => wrapBlock(`  ${toPrintable(describeEvent(event))}`, columns - 1)),
        ...(record.changes ?? []).flatMap(describeGrant),
      ].map(colors.dim);
    case 'plan-end':
      if (depth > 0) return [colors.dim(`  plan ${toPrintable(record.status)}`)];
      if (resumed.has(record)) return ['', `${colors.bold('Suspended')}  ${formatTime(record.atMs)}`];
      return ['', formatStatus(record.status, record.atMs - startedAtMs, style), ...listChanges(changes, style)];
    case 'run-end':
      if (resumed.has(record)) return ['', `${colors.bold('Suspended')}  ${formatTime(record.atMs)}`];
      return [
        '',
        colors.bold(record.status === 'completed' ? 'Answer' : 'Last message'),
        ...(record.text.trim() === '' ? ['  (none)'] : quoteText(cutText(record.text.trim()), { columns, indent: 2 })),
        ...(record.error === undefined
          ? []
          : quoteText(toPrintable(record.error.message), { columns, indent: 2, paint: colors.red })),
        ...formatUnfinished(record.unfinished, style),
        '',
        `${formatStatus(record.status, record.atMs - startedAtMs, style)}, ${formatCount(record.turns, 'turn')}`,
        ...listChanges(changes, style),
      ];
    default:
      return record satisfies never;
  }
}

function formatStatus(status: string, durationMs: number, { colors }: LineStyle): string {
  return `${colors.bold('Status')}  ${toPrintable(status)} after ${formatDuration(durationMs)}`;
}

function listChanges(changes: ChangeCollector, { colors }: LineStyle): readonly string[] {
  if (changes.list().length === 0) return ['No files were changed.'];
  return [colors.bold('Changes'), ...formatChanges(changes.list(), colors)];
}

// Narrower lines leave the room to the arguments; `--json` has the ids.
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
      .map(describePolicyDecision),
    ...(call.abandoned === true ? ['The tool did not stop when asked; its late result was discarded.'] : []),
  ];
  // The lines of a failure already contain the message.
  const result = call.outcome.kind === 'ok' ? call.outcome.text.trim() : '';
  const id = style.columns < minColumnsForId ? '' : `  ${fitColumns(toPrintable(shortId), 24)}`;
  const [line = '', ...reasons] = formatCallEnd(call, { ...style, columns: style.columns - id.length });
  return [
    line + colors.dim(id),
    // The notes name each policy and its reason.
    ...(call.outcome.code === 'policy.denied' ? [] : reasons),
    ...notes.flatMap((note) => labelText(' '.repeat(12), toPrintable(note), style.columns).slice(0, 4)),
    ...quoteResult(result, style, maxResultLines),
    // Changes of nested calls are listed by the parent, if it succeeds.
    ...(call.outcome.kind === 'ok' && depth === 0
      ? formatChanges(
          call.writes.map(({ key, change }) => ({ path: key, change })),
          colors,
        ).map((line) => `          ${line}`)
      : []),
  ];
}

function cutText(text: string): string {
  const left = text.length - maxTextCharacters;
  return left <= 0
    ? text
    : `${text.slice(0, maxTextCharacters).toWellFormed()}…\n(${left} more characters; use \`--json\`)`;
}
