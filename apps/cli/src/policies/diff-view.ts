import type { ComparedCall, Verdict } from '@holdfast/testing';
import { formatArguments, formatCount } from '../calls/line.ts';
import { formatTable, type TableStyle } from '../terminal/table.ts';

/** A session, and what two presets or versions of a pack say to its calls. */
export interface DiffedSession {
  readonly id: string;
  readonly damaged: boolean;
  readonly calls: readonly ComparedCall[];
}

interface DiffedSide {
  readonly pack: string;
  readonly version: string;
  readonly preset: string;
}

export interface PolicyDiff {
  readonly before: DiffedSide;
  readonly after: DiffedSide;
  readonly counts: Readonly<Record<ComparedCall['change'], number>>;
  readonly sessions: readonly DiffedSession[];
}

/** The calls that are not the same, the widened ones first, and how many there are of what. */
export function describeDiff({ before, after, counts, sessions }: PolicyDiff, style: TableStyle): readonly string[] {
  const { colors } = style;
  const title = `${nameOf(before)} → ${nameOf(after)}`;
  const rows = (['widened', 'tightened', 'unknown', 'reason'] as const).flatMap((change) =>
    sessions.flatMap(({ id, calls }) => calls.filter((call) => call.change === change).map((call) => toRow(id, call))),
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { widened, tightened, reason, unknown, same } = counts;
  const told = [
    `${widened} widened`,
    `${tightened} tightened`,
    `${reason} with another reason`,
    `${unknown} unknown`,
    `${same} the same`,
  ].join(', ');
  const paint = (change: string): string =>
    change === 'widened' ? colors.red(change) : change === 'tightened' ? colors.green(change) : colors.yellow(change);
  const head = [
    { title: 'change', paint },
    { title: 'session' },
    { title: 'call' },
    { title: 'tool' },
    { title: 'before' },
    { title: 'after' },
    { title: 'arguments and reasons' },
  ];
  return [
    colors.bold(title),
    '',
    ...(rows.length === 0 ? [] : [...formatTable(head, rows, style), '']),
    (widened > 0 ? colors.red : colors.green)(
      `${formatCount(total, 'call')} of ${formatCount(sessions.length, 'session')}: ${told}`,
    ),
    ...(unknown === 0
      ? []
      : [colors.yellow('Unknown: a policy looks at something that the log does not have. It was not guessed.')]),
  ];
}

function nameOf({ pack, version, preset }: DiffedSide): string {
  return `${pack} ${version} (${preset})`;
}

function toRow(session: string, { callId, tool, input, before, after, change }: ComparedCall): readonly string[] {
  const reasons = [
    ['before', reasonsOf(before)],
    ['after', reasonsOf(after)],
  ].flatMap(([when, text]) => (text === '' ? [] : [`${when}: ${text}`]));
  const told = [formatArguments(JSON.stringify(input)), ...reasons].join('  ');
  return [change, session, callId, tool, before.type, after.type, told];
}

function reasonsOf({ judgements }: Verdict): string {
  return judgements.flatMap(({ reason }) => (reason === undefined ? [] : [reason])).join(' ');
}
