import { listObserved, type ObservedPolicy } from '@holdfast/testing';
import { formatCount } from '../../calls/line.ts';
import { type ReadSession, readSessionLogs, type SessionChoice } from '../../policies/sessions.ts';
import { describeStyle } from '../../run/work.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { formatTable, type TableStyle } from '../../terminal/table.ts';

export interface ObservedOptions extends SessionChoice {
  readonly json: boolean;
}

/** As JSON. */
interface ObservedSession {
  readonly id: string;
  readonly damaged: boolean;
  readonly policies: readonly ObservedPolicy[];
}

/**
 * Lists what policies that were only tried out would have denied or asked for; 1 when a log is damaged.
 *
 * @throws HoldfastError `usage.session_unknown`, `log.*`.
 */
export async function listObservedDecisions({ json, ...choice }: ObservedOptions, host: Host): Promise<ExitCode> {
  const sessions = await readSessionLogs(choice, host);
  const observed = sessions.map(toObserved);
  const lines = json ? [toJsonText({ sessions: observed }, 2)] : describe(observed, describeStyle(host));
  host.stdout.write(`${lines.join('\n')}\n`);
  return sessions.some(({ damaged }) => damaged) ? 1 : 0;
}

function toObserved({ id, records, damaged }: ReadSession): ObservedSession {
  return { id, damaged, policies: listObserved(records) };
}

function describe(sessions: readonly ObservedSession[], style: TableStyle): readonly string[] {
  const { colors } = style;
  const rows = sessions.flatMap(({ id, policies }) =>
    policies.flatMap(({ policy, decisions }) =>
      decisions.map(({ callId, tool, type, reason }) => [policy, id, callId, tool, type, reason]),
    ),
  );
  const where = formatCount(sessions.length, 'session');
  if (rows.length === 0) return [`Nothing in ${where}: no policy was tried out, or none had anything to say.`];
  const head = [
    { title: 'policy', paint: colors.bold },
    { title: 'session' },
    { title: 'call' },
    { title: 'tool' },
    { title: 'would', paint: (text: string) => (text === 'deny' ? colors.red(text) : colors.yellow(text)) },
    { title: 'reason' },
  ];
  return [
    ...formatTable(head, rows, style),
    '',
    ...describeTotals(sessions, style),
    '',
    colors.dim(`${where}; every one of these calls was let through by these policies.`),
  ];
}

function describeTotals(sessions: readonly ObservedSession[], style: TableStyle): readonly string[] {
  const totals = new Map<string, { asked: number; denied: number }>();
  for (const { policy, asked, denied } of sessions.flatMap(({ policies }) => policies)) {
    const total = totals.get(policy) ?? { asked: 0, denied: 0 };
    totals.set(policy, { asked: total.asked + asked, denied: total.denied + denied });
  }
  const head = ['policy', 'would deny', 'would ask'].map((title) => ({ title }));
  return formatTable(
    head,
    [...totals].map(([policy, { asked, denied }]) => [policy, String(denied), String(asked)]),
    style,
  );
}
