import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeThrown } from '@holdfast/core/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { type ConformanceCheck, measurePack, type PackCases, type PackRule, packTester } from '@holdfast/testing';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addTrustOption } from '../../flags/config.ts';
import { findCases, findPack, openCases, openPack } from '../../policies/pack.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { formatTable, type TableStyle } from '../../terminal/table.ts';
import { toPrintable } from '../../terminal/text.ts';
import { demandTrust } from '../../trust/trust.ts';
import { shortenPath } from '../../workspace/folder.ts';

const help = `
Examples:
  $ holdfast pack check .                     the pack in this folder, with its cases
  $ holdfast pack check packs/git-safety --json | jq '.rules'
  $ holdfast pack check @acme/holdfast-git-safety --cases test/git-safety.ts

Loads the sources (src/index.ts) if there are any, and the \`cases\` export of cases.ts, src/cases.ts or test/cases.ts. The checks:
complete metadata; no install scripts; presets that make policies; unknown options rejected; every rule allows something and refuses
something, also with missing arguments; an answer for random options and arguments; no timer left running. Costs are those of this
machine. Exits with 1 if a check fails.

A pack runs with your rights: without a name, the pack in this folder must be trusted first.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addTrustOption(command.command('check'))
    .description('test a policy pack: metadata, presets, options, cases and both answers of every rule')
    .argument('[dir]', 'folder, file or installed package (default: this folder)')
    .option('--export <export>', 'name of the exported pack (default: `default`, or the only one)')
    .option(
      '--cases <file>',
      'file that exports `cases` (default: cases.ts, src/cases.ts or test/cases.ts in the folder)',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (place: string | undefined, flags: PackCheckOptions) =>
      end(await checkPack({ ...flags, place }, host)),
    );
}

export interface PackCheckOptions {
  /** A folder, a file or an installed package. Default: the current folder. */
  readonly place?: string | undefined;
  readonly export?: string | undefined;
  /** The file with the cases. Default: searched beside the pack. */
  readonly cases?: string | undefined;
  readonly json?: boolean;
  /** Trusts a pack that was found. */
  readonly trust?: boolean | undefined;
}

/** The JSON output. */
interface CheckedPack {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly file: string;
  readonly cases: string;
  readonly checks: readonly CheckedOne[];
  readonly rules: readonly PackRule[];
}

interface CheckedOne {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly message?: string;
}

/**
 * Checks a pack with its cases, as `packTester` does, and reports what its rules answered and cost. Returns 1 if a check fails. A pack
 * that was not named is found code.
 *
 * @throws HoldfastError `usage.invalid` (`pack_missing`, `pack_unclear`, `cases_missing`), `module.failed`, and `options.invalid` for
 * cases of another pack; as `demandTrust`.
 */
export async function checkPack(options: PackCheckOptions, host: Host): Promise<ExitCode> {
  const { place = '.', export: exportName, cases: named, json = false } = options;
  if (options.place === undefined) await demandPack(options, host);
  // A module's own output must not mix with ours.
  const write = host.reserveStdout();
  const { pack, file, folder, manifest } = await openPack({ place, exportName, directory: host.directory });
  const { cases, file: casesFile } = await openCases(folder, named, host.directory);
  const checks: CheckedOne[] = [];
  // In sequence: timers are counted for the whole process.
  for (const check of packTester(pack, cases, manifest === undefined ? {} : { manifest }))
    checks.push(await runCheck(check));
  const rules = await measurePack(pack, cases);
  const { name, version, description } = pack;
  const shown = { file: shortenPath(toPath(file), host.directory), cases: shortenPath(casesFile, host.directory) };
  const checked: CheckedPack = { name, version, description, ...shown, checks, rules };
  const lines = json ? [toJsonText(checked, 2)] : describe(checked, listGroups(cases), describeStyle(host));
  write(`${lines.join('\n')}\n`);
  return checks.some(({ status }) => status === 'failed') ? 1 : 0;
}

async function demandPack({ cases, json = false, trust }: PackCheckOptions, host: Host): Promise<void> {
  const { directory } = host;
  const { file, folder } = await findPack('.', directory);
  const path = toPath(file);
  const casesFile = cases === undefined ? await findCases(folder) : undefined;
  const specifiers = [path, ...(casesFile === undefined ? [] : [casesFile])].map((one) => pathToFileURL(one).href);
  const found = { names: [relative(directory, path)], specifiers, tools: undefined };
  const use = {
    untrusted: 'refuse',
    trust,
    taken: { stdin: false, stdout: json },
    naming: '`holdfast pack check .`',
  } as const;
  await demandTrust(found, use, { directory, host });
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : file;
}

async function runCheck({ name, skipped, run }: ConformanceCheck): Promise<CheckedOne> {
  if (skipped !== undefined) return { name, status: 'skipped', message: skipped };
  try {
    await run();
    return { name, status: 'passed' };
  } catch (thrown) {
    return { name, status: 'failed', message: describeThrown(thrown) };
  }
}

function describe(
  { name, version, description, file, cases, checks, rules }: CheckedPack,
  groups: readonly string[],
  style: TableStyle,
): readonly string[] {
  const { colors } = style;
  const paint = (status: string): string => (status === 'failed' ? colors.red(status) : colors.dim(status));
  const told = checks.flatMap(({ name: check, status, message }) =>
    message === undefined ? [] : [[status, `${check}: ${message}`]],
  );
  const failed = checks.some(({ status }) => status === 'failed');
  return [
    `${colors.bold(`Pack ${name} ${version}`)}  ${toPrintable(description)}`,
    colors.dim(`${toPrintable(file)}, cases from ${toPrintable(cases)}`),
    '',
    ...describeGroups(checks, groups, style),
    '',
    ...describeRules(rules, style),
    '',
    ...(told.length === 0 ? [] : [...formatTable([{ title: 'result', paint }, { title: 'check' }], told, style), '']),
    (failed ? colors.red : colors.green)(`${formatCount(checks.length, 'check')}: ${countStatuses(checks).join(', ')}`),
  ];
}

/** The titles that prefix the names of checks. */
function listGroups({ presets, configs = [] }: PackCases): readonly string[] {
  return [...Object.keys(presets), ...configs.map(({ title }) => title)];
}

/** Counts the checks of the pack as a whole, of each preset and of each set of options. */
function describeGroups(
  checks: readonly CheckedOne[],
  groups: readonly string[],
  style: TableStyle,
): readonly string[] {
  const groupOf = ({ name }: CheckedOne): string => groups.find((group) => name.startsWith(`${group}: `)) ?? '';
  const rows = ['', ...groups].map((group) => {
    const own = checks.filter((check) => groupOf(check) === group);
    return [group === '' ? 'pack' : group, ...countStatuses(own)];
  });
  return formatTable([{ title: 'checks of' }, { title: '' }, { title: '' }, { title: '' }], rows, style);
}

function countStatuses(checks: readonly CheckedOne[]): readonly string[] {
  return (['passed', 'failed', 'skipped'] as const).map(
    (status) => `${checks.filter((check) => check.status === status).length} ${status}`,
  );
}

function describeRules(rules: readonly PackRule[], style: TableStyle): readonly string[] {
  if (rules.length === 0) return [style.colors.yellow('No rule ran.')];
  const head = ['rule', 'allowed', 'asked', 'denied', 'cost per check'].map((title) => ({ title }));
  const rows = rules.map(({ policy, allowed, asked, denied, microseconds }) => [
    policy,
    ...[allowed, asked, denied].map(String),
    `${microseconds} µs`,
  ]);
  return formatTable(head, rows, style);
}
