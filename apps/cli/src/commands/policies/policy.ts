import { formatCount } from '@holdfast/orchestrator/text';
import { listObserved, type ObservedPolicy } from '@holdfast/testing/recorded';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { isDamaged } from '../../logs/damage.ts';
import { readSessions, type SessionChoice } from '../../policies/sessions.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatTable, type TableStyle } from '../../terminal/table.ts';
import type { PolicyDiffOptions } from './policy-diff.ts';

const diffHelp = `
Examples:
  $ holdfast policy diff --pack @holdfast/pack-shell --from recommended --to strict
  $ holdfast policy diff --from ./pack-1.2.ts --to ./pack-1.3.ts --preset strict --options pack.json
  $ holdfast policy diff --from @acme/pack --to ../pack 20260517-093012345-k3x9 --json | jq '.counts'

Each recorded call is judged by both sides, with the history of the log. No tool runs and nothing changes. Calls that depend on data
missing from the log (file contents, secrets, what a call read) are reported as unknown. Exits with 1 if a call that was refused would
now be allowed: each is listed.`;

const observedHelp = `
Examples:
  $ holdfast policy observed                        decisions of policies that are only observed
  $ holdfast policy observed 20260517-093012345-k3x9 --json | jq '.sessions[].policies[].denied'

Policies are observed with \`observe: true\` or the pack preset \`observe\`. Exits with 1 if a log is damaged.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .command('diff')
    .description('compare two presets or versions of a pack on recorded calls')
    .argument('[id...]', 'session ids (default: all of the workspace)')
    .option('--pack <pack>', 'pack (folder, file or installed package) whose presets --from and --to name')
    .requiredOption('--from <side>', 'a preset of --pack; without --pack, a pack (folder, file or installed package)')
    .requiredOption('--to <side>', 'the preset or pack to compare with')
    .option('--preset <preset>', 'without --pack: preset of both packs (default: recommended)')
    .option('--options <file>', 'JSON file with host options for both')
    .option('--export <export>', 'name of the exported pack (default: `default`, or the only one)')
    .option('--workspace <dir>', 'workspace of the sessions', '.')
    .option('--json', 'print JSON')
    .addHelpText('after', diffHelp)
    .action(async (ids: readonly string[], flags: Omit<PolicyDiffOptions, 'ids'>) => {
      const { diffPolicies } = await import('./policy-diff.ts');
      end(await diffPolicies({ ...flags, ids }, host));
    });
  command
    .command('observed')
    .description('list what observed policies would have denied or asked about')
    .argument('[id...]', 'session ids (default: all of the workspace)')
    .option('--workspace <dir>', 'workspace of the sessions', '.')
    .option('--json', 'print JSON')
    .addHelpText('after', observedHelp)
    .action(async (ids: readonly string[], flags: Omit<ObservedOptions, 'ids'>) =>
      end(await listObservedDecisions({ ...flags, ids }, host)),
    );
}

export interface ObservedOptions extends SessionChoice {
  readonly json?: boolean;
}

/** The JSON output. */
interface ObservedSession {
  readonly id: string;
  readonly damaged: boolean;
  readonly policies: readonly ObservedPolicy[];
}

/**
 * Lists what observed policies would have denied or asked about. Returns 1 if a log is damaged.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`), `log.*`.
 */
export async function listObservedDecisions({ json, ...choice }: ObservedOptions, host: Host): Promise<ExitCode> {
  const sessions = await readSessions(choice, host);
  const observed = sessions.map(({ id, reading }): ObservedSession => {
    return { id, damaged: isDamaged(reading), policies: listObserved(reading.records) };
  });
  if (json) printJson(host, { sessions: observed });
  else printLines(host, describe(observed, describeStyle(host)));
  return observed.some(({ damaged }) => damaged) ? 1 : 0;
}

function describe(sessions: readonly ObservedSession[], style: TableStyle): readonly string[] {
  const { colors } = style;
  const rows = sessions.flatMap(({ id, policies }) =>
    policies.flatMap(({ policy, decisions }) =>
      decisions.map(({ callId, tool, type, reason }) => [policy, id, callId, tool, type, reason]),
    ),
  );
  const where = formatCount(sessions.length, 'session');
  if (rows.length === 0) return [`Nothing in ${where}: no policy was observed, or none objected.`];
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
    colors.dim(`${where}; these policies were only observed and stopped none of these calls.`),
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
