import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeThrown } from '@holdfast/core';
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

Runs the sources (src/index.ts) where there are any, and the cases that cases.ts, src/cases.ts or test/cases.ts exports as \`cases\`.
Checked is what every pack has to hold to: it says what it is, its package runs nothing when it is installed, its presets make policies,
options that there are not are refused, every rule lets something through and refuses something, also with arguments left out, random
options and arguments get an answer, no timer is left. What a check costs is
that of this machine. Exits with 1 when a check fails. A pack runs with your rights: without a name, the one in this folder has to be
trusted first.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addTrustOption(command.command('check'))
    .description('check a policy pack: its metadata, presets, options and cases, and both answers of every rule')
    .argument('[dir]', 'folder of the pack, a file, or an installed package (default: this folder)')
    .option('--export <export>', 'which of the packs that it exports (default: `default`, else the only one)')
    .option(
      '--cases <file>',
      'file that exports `cases` (default: cases.ts, src/cases.ts or test/cases.ts in the folder)',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (place: string | undefined, flags: PackCheckOptions) =>
      end(await checkPack({ ...flags, place }, host)),
    );
}

export interface PackCheckOptions {
  /** A folder, a file or an installed package. Absent: the current folder. */
  readonly place?: string | undefined;
  readonly export?: string | undefined;
  /** File with the cases. Absent: it is looked for beside the pack. */
  readonly cases?: string | undefined;
  readonly json?: boolean;
  /** Says yes to a pack that is found. */
  readonly trust?: boolean | undefined;
}

/** As JSON. */
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
  /** Why it failed, or was skipped. */
  readonly message?: string;
}

/**
 * Checks a pack with its cases, as `packTester` does it, and says what its rules answered and cost; 1 when a check fails. A pack that
 * nobody has named is found code.
 *
 * @throws HoldfastError `usage.pack_missing`, `usage.pack_unclear`, `usage.cases_missing`, `module.failed`, and `options.invalid` for
 * cases that are none of this pack; as `demandTrust`.
 */
export async function checkPack(options: PackCheckOptions, host: Host): Promise<ExitCode> {
  const { place = '.', export: exportName, cases: named, json = false } = options;
  if (options.place === undefined) await demandPack(options, host);
  // What a module prints must not get between our lines.
  const write = host.reserveStdout();
  const { pack, file, folder, manifest } = await openPack({ place, exportName, directory: host.directory });
  const { cases, file: casesFile } = await openCases(folder, named, host.directory);
  const checks: CheckedOne[] = [];
  // One after another: timers are counted in the whole process.
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
    colors.dim(`${toPrintable(file)}, cases of ${toPrintable(cases)}`),
    '',
    ...describeGroups(checks, groups, style),
    '',
    ...describeRules(rules, style),
    '',
    ...(told.length === 0 ? [] : [...formatTable([{ title: 'result', paint }, { title: 'check' }], told, style), '']),
    (failed ? colors.red : colors.green)(`${formatCount(checks.length, 'check')}: ${countStatuses(checks).join(', ')}`),
  ];
}

/** By the titles that stand before the names of checks. */
function listGroups({ presets, configs = [] }: PackCases): readonly string[] {
  return [...Object.keys(presets), ...configs.map(({ title }) => title)];
}

/** How many checks there were of the pack as a whole, and of each preset and further choice of options. */
function describeGroups(
  checks: readonly CheckedOne[],
  groups: readonly string[],
  style: TableStyle,
): readonly string[] {
  const groupOf = ({ name }: CheckedOne): string => groups.find((group) => name.startsWith(`${group}: `)) ?? '';
  const rows = ['', ...groups].map((group) => {
    const own = checks.filter((check) => groupOf(check) === group);
    return [group === '' ? 'the pack' : group, ...countStatuses(own)];
  });
  return formatTable([{ title: 'checks of' }, { title: '' }, { title: '' }, { title: '' }], rows, style);
}

function countStatuses(checks: readonly CheckedOne[]): readonly string[] {
  return (['passed', 'failed', 'skipped'] as const).map(
    (status) => `${checks.filter((check) => check.status === status).length} ${status}`,
  );
}

function describeRules(rules: readonly PackRule[], style: TableStyle): readonly string[] {
  if (rules.length === 0) return [style.colors.yellow('No rule was asked.')];
  const head = ['rule', 'allowed', 'asked', 'denied', 'a check costs, here'].map((title) => ({ title }));
  const rows = rules.map(({ policy, allowed, asked, denied, microseconds }) => [
    policy,
    ...[allowed, asked, denied].map(String),
    `${microseconds} µs`,
  ]);
  return formatTable(head, rows, style);
}
