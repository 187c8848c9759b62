import { resolve } from 'node:path';
import { defaultIsolation, describeIsolation, type TierState } from '@holdfast/loader/internal';
import { findPython } from '@holdfast/loader-python';
import { formatCount } from '@holdfast/orchestrator/text';
import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { describeStyle } from '../../calls/line.ts';
import { type ConfigState, describeConfig, describeTrust, examineConfig } from '../../doctor/config.ts';
import { describeLocal, examineLocal, type LocalState } from '../../doctor/local.ts';
import { describeFolder, examineTools, type FolderState } from '../../doctor/tools.ts';
import {
  describeModels,
  examineModels,
  examineWorkspace,
  type ModelsState,
  type WorkspaceState,
} from '../../doctor/workspace.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions } from '../../flags/config.ts';
import { subfoldersText } from '../../flags/values.ts';
import { findVersion } from '../../models/package.ts';
import { baseUrlVariable, compatible, keyVariables } from '../../models/provider-keys.ts';
import type { ViewPlace } from '../../settings/registry-view.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatBytes, toPrintable } from '../../terminal/text.ts';

const help = `
Examples:
  $ holdfast doctor
  $ holdfast doctor --workspace ~/project --json

Python is looked up in PATH. A local Ollama is asked once for its models. Writes nothing, and never prints a key. Exits with 1 if
something prevents \`run\` from working.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, if it exists)')
    .option('--subfolders', subfoldersText)
    .option('--workspace <dir>', 'folder that the file tools can access', '.')
    .option('--json', 'print JSON');
  addConfigOptions(command)
    .addHelpText('after', help)
    .action(async (flags: DoctorOptions) => end(await examine(flags, host, process.versions.node)));
}

export interface DoctorOptions extends ViewPlace {
  readonly workspace: string;
  readonly json?: boolean | undefined;
}

interface Diagnosis {
  readonly holdfast: string;
  readonly node: { readonly version: string; readonly required: string; readonly ok: boolean };
  readonly packages: readonly { readonly name: string; readonly version: string | null }[];
  readonly providers: readonly Provider[];
  readonly models: ModelsState;
  readonly local: LocalState;
  readonly config: ConfigState;
  readonly tools: FolderState;
  readonly workspace: WorkspaceState;
  readonly python: { readonly available: boolean; readonly program: string | null; readonly reason: string };
  readonly isolation: { readonly available: readonly string[]; readonly tiers: readonly TierState[] };
  readonly problems: readonly string[];
}

interface Provider {
  readonly package: string;
  /** `null`: not found from the current folder. */
  readonly version: string | null;
  readonly variable: string;
  /** True if the variable is set. Its value is never shown. */
  readonly set: boolean;
}

// Named even if they are not installed.
const common: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google', compatible]);

/** Reports what this program finds in its environment and what prevents `run` from working. Returns 1 if anything does. */
export async function examine(options: DoctorOptions, host: Host, nodeVersion: string): Promise<ExitCode> {
  const diagnosis = await diagnose(options, host, nodeVersion);
  const { problems } = diagnosis;
  const { colors } = describeStyle(host);
  if (options.json) printJson(host, diagnosis);
  else
    printLines(host, [
      ...describe(diagnosis).map(([label, text]) => `${colors.bold(label.padEnd(11))} ${text}`),
      '',
      ...(problems.length === 0 ? [colors.green('No problem found.')] : []),
      ...problems.map((problem) => `${colors.red('problem')}: ${toPrintable(problem)}`),
    ]);
  return problems.length === 0 ? 0 : 1;
}

async function diagnose({ workspace, ...given }: DoctorOptions, host: Host, nodeVersion: string): Promise<Diagnosis> {
  const required = manifest.engines.node.replace('>=', '');
  const node = { version: nodeVersion, required, ok: isAtLeast(nodeVersion, required) };
  const problems: string[] = [];
  if (!node.ok) problems.push(`Node.js ${nodeVersion} is too old: install ${required} or later.`);
  const place = await examineWorkspace(workspace, host.directory);
  if (place.problem !== null) problems.push(place.problem);
  const config = await examineConfig({ ...given, workspace: resolve(host.directory, workspace) }, host);
  const { tools, subfolders } = config;
  const folder = await examineTools(tools, { subfolders, directory: host.directory });
  // Both look for the folder.
  problems.push(...new Set([...config.problems, ...folder.problems]));
  const models = await examineModels(host);
  if (models.reason !== '') problems.push(models.reason);
  const python = await findPython();
  const tiers = await describeIsolation(host.environment['PATH'] ?? '');
  return {
    holdfast: manifest.version,
    node,
    packages: await Promise.all(
      Object.keys(manifest.dependencies)
        .filter((name) => name.startsWith('@holdfast/'))
        .map(async (name) => ({ name, version: await findVersion(name, import.meta.dirname) })),
    ),
    providers: await findProviders(host),
    models,
    local: await examineLocal(host),
    config: config.state,
    tools: folder.state,
    workspace: place,
    python: python.available
      ? { available: true, program: python.program, reason: '' }
      : { available: false, program: null, reason: python.reason },
    isolation: { available: tiers.filter(({ available }) => available).map(({ tier }) => tier), tiers },
    problems,
  };
}

function isAtLeast(version: string, required: string): boolean {
  const [have, want] = [version, required].map((text) => text.replace(/^v/, '').split('.').map(Number));
  for (const [index, number] of (want ?? []).entries()) {
    const own = have?.[index] ?? 0;
    if (own !== number) return own > number;
  }
  return true;
}

async function findProviders({ directory, environment }: Host): Promise<readonly Provider[]> {
  const found = await Promise.all(
    [...keyVariables, [compatible, baseUrlVariable] as const].map(async ([provider, variable]) => {
      const name = `@ai-sdk/${provider}`;
      const version = await findVersion(name, directory);
      const set = (environment[variable] ?? '').trim() !== '';
      return version === null && !common.has(provider) ? [] : [{ package: name, version, variable, set }];
    }),
  );
  return found.flat();
}

function describe(diagnosis: Diagnosis): readonly (readonly [label: string, text: string])[] {
  const { holdfast, node, packages, config, tools, workspace, python } = diagnosis;
  return [
    ['holdfast', holdfast],
    ['Node.js', `${node.version} (${node.ok ? '' : 'too old, '}${node.required} or later required)`],
    ['packages', packages.map(({ name, version }) => `${name} ${version ?? 'not found'}`).join(', ')],
    ...diagnosis.providers.map(({ package: name, version, variable, set }, index): readonly [string, string] => [
      index === 0 ? 'providers' : '',
      `${name} ${version ?? 'not installed'}, ${variable} ${set ? 'is set' : 'is not set'}`,
    ]),
    ...describeModels(diagnosis.models),
    ...describeLocal(diagnosis.local),
    ...describeConfig(config),
    ...describeFolder(tools),
    ...describeTrust(config),
    [
      'workspace',
      `${toPrintable(workspace.path)}: ${workspace.writable ? 'writable' : 'not writable'}, ${formatCount(workspace.sessions, 'session log')}${workspace.freeBytes === null ? '' : `, ${formatBytes(workspace.freeBytes)} free`}`,
    ],
    [
      'Python',
      python.program === null
        ? `not available, ${toPrintable(python.reason)}: .py tool files are skipped`
        : toPrintable(python.program),
    ],
    ...diagnosis.isolation.tiers.map((tier, index, tiers): readonly [string, string] => [
      index === 0 ? 'isolation' : '',
      describeTier(tier, tiers[index - 1]),
    ]),
  ];
}

/** The actions of a tool that the tier stops, beyond the `weaker` tier. */
function describeTier({ tier, reason, stops, notHere }: TierState, weaker: TierState | undefined): string {
  if (reason !== '') return toPrintable(`${tier}: not available. ${reason}`);
  if (tier === 'in-process') return 'in-process stops nothing: only for tool files whose code you trust as your own';
  const where: Readonly<Record<string, string>> = {
    [defaultIsolation]: ' (the default)',
    // A worker is part of this process, in which code can do anything the process may.
    worker: ' (only for code you trust as your own)',
  };
  const further = stops.filter((what) => weaker?.stops.includes(what) !== true);
  const missing = notHere.filter((what) => weaker?.notHere.includes(what) !== true);
  const says = `${tier}${where[tier] ?? ''} ${further.length < stops.length ? 'also ' : ''}stops a tool that ${further.join(', ')}`;
  return missing.length === 0 ? says : `${says}; on this machine it does not stop one that ${missing.join(', ')}`;
}
