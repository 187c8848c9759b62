import { statSync } from 'node:fs';
import { formatCount } from '@holdfast/orchestrator/text';
import { readRuleFile } from '@holdfast/registry/rules';
import { readLog } from '@holdfast/session/jsonl';
import { describeStyle } from '../../calls/line.ts';
import { type Learned, type LearnedRule, learn } from '../../learn/learn.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';
import { fitColumns, toPrintable } from '../../terminal/text.ts';
import { userFolder } from '../../user/folder.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { listLogs } from '../../workspace/session-logs.ts';

export interface LearnFlags {
  readonly days?: number | undefined;
  readonly times?: number | undefined;
}

/**
 * Prints the exceptions that the answers of a person suggest. Changes nothing.
 *
 * @throws HoldfastError `config.invalid`, `log.*`.
 */
export async function showLearned({ days = 30, times = 3 }: LearnFlags, host: Host): Promise<ExitCode> {
  const file = await readRuleFile(userFolder(host), 'user');
  const sinceMs = host.clock.now() - days * 86_400_000;
  const logs = (await listLogs(guardFolder(host))).filter(({ path }) => statSync(path).mtimeMs >= sinceMs);
  const sessions = logs.map(({ id, path }) => ({ id, records: readLog(path).records }));
  const learned = await learn(sessions, { rules: file?.rules ?? {}, times });
  const { columns } = describeStyle(host);
  const fit = (text: string): string => fitColumns(toPrintable(text), Math.max(20, columns - 6));
  printLines(host, [...describeRules(learned.rules, days, fit), ...describeUnlifted(learned, fit)]);
  return 0;
}

function describeRules(rules: readonly LearnedRule[], days: number, fit: (text: string) => string): readonly string[] {
  if (rules.length === 0)
    return [
      `Nothing to propose: of the last ${days} days, no question of your own rules was answered with yes again and again.`,
    ];
  return [
    'Exceptions for `allow` in your own holdfast.policy.json. Nothing was changed.',
    ...rules.flatMap(({ rule, approved, letThrough }) => [
      '',
      `  ${fit(JSON.stringify(rule))}`,
      `    you said yes ${formatCount(approved, 'time')}, never no; of the last ${days} days it lets ${formatCount(letThrough.length, 'call')} through:`,
      ...[...new Set(letThrough.map(({ about }) => about))].slice(0, 5).map((about) => `      ${fit(about)}`),
    ]),
  ];
}

function describeUnlifted({ unlifted }: Learned, fit: (text: string) => string): readonly string[] {
  if (unlifted.length === 0) return [];
  return [
    '',
    'No rule of a file lifts the questions of other policies. You said yes to:',
    ...unlifted
      .slice(0, 5)
      .map(({ policy, approved, about }) => `  ${fit(`${policy}: ${approved}, such as ${about}`)}`),
  ];
}
