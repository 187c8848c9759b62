import { join, resolve } from 'node:path';
import { formatCount } from '@holdfast/orchestrator/text';
import type { LoadedOverrides } from '@holdfast/prompt';
import { fileOverrides } from '@holdfast/prompt/node';
import { Argument, type Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { openPrompt } from '../../overrides/module.ts';
import { formatDifferences, formatStates, listStates, type OverrideState, toPatch } from '../../overrides/view.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable } from '../../terminal/text.ts';
import { toCommand } from '../../terminal/words.ts';
import { shortenPath } from '../../workspace/folder.ts';

const help = `
Examples:
  $ holdfast overrides seed src/prompt.ts       writes .holdfast/overrides/<ns>/<key>/latest.json for editing
  $ holdfast overrides status src/prompt.ts     which overrides are in force, and why others are not
  $ holdfast overrides diff src/prompt.ts --tag short
  $ holdfast overrides status src/prompts.ts --export support --json | jq .ok

Each override is pinned to a hash of the text that it replaces, and becomes stale when that text changes. Existing files are never
overwritten. Exits with 1 if an edited override is not in force, and with 2 if there are no overrides.`;

const defaultTag = 'latest';
const defaultFolder = '.holdfast/overrides';

const overridesActions = ['seed', 'status', 'diff'] as const;
type OverridesAction = (typeof overridesActions)[number];

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .addArgument(new Argument('<action>', 'what to do').choices(overridesActions))
    .argument('<module>', 'file that exports the prompt (it is executed)')
    .option('--export <prompt>', 'name of the export (default: `default`, or the only prompt)')
    .option('--tag <tag>', 'tag of the overrides', defaultTag)
    .option('--dir <dir>', 'folder of the overrides', defaultFolder)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (action: OverridesAction, module: string, flags: Omit<OverridesOptions, 'action' | 'module'>) =>
      end(await workOnOverrides({ ...flags, action, module }, host)),
    );
}

export interface OverridesOptions {
  readonly action: OverridesAction;
  /** A file that exports a prompt. It is executed. */
  readonly module: string;
  readonly export?: string | undefined;
  readonly tag: string;
  /** The folder with the documents. */
  readonly dir: string;
  readonly json?: boolean;
}

/**
 * Writes the overridable texts of a prompt, or reports which overrides are in force or what they change. Returns 1 if an edited
 * override is not in force.
 *
 * @throws HoldfastError `usage.invalid` (`overrides_missing`), `prompt.invalid`, and what `openPrompt` throws.
 */
export async function workOnOverrides(options: OverridesOptions, host: Host): Promise<ExitCode> {
  // The module may print to stdout.
  const print = host.reserveStdout();
  const { module, export: exportName, tag } = options;
  const { prompt, functions } = await openPrompt({ module, exportName, directory: host.directory });
  const folder = resolve(host.directory, options.dir);
  const store = fileOverrides(folder);
  const { ns, key } = prompt;
  const path = join(folder, ...ns.split('/'), key, `${tag}.json`);
  const about: Document = { ns, key, tag, file: shortenPath(path, host.directory) };
  if (options.action === 'seed') {
    const { document, created } = await functions.seedOverrides(prompt, { store, tag });
    const seeded = { ...about, created, sections: countKeys(document.sections), tools: countKeys(document.tools) };
    print(options.json ? `${toJsonText(seeded, 2)}\n` : describeSeed(seeded));
    return 0;
  }
  const loaded = await functions.loadOverrides(prompt, { store, tag });
  if (!loaded.found) {
    throw usageError(
      'overrides_missing',
      `No overrides with tag \`${tag}\` for \`${ns}/${key}\`: \`${about.file}\` does not exist. Create it with \`${toSeed(options, host)}\`.`,
    );
  }
  print(
    options.action === 'status'
      ? showStatus(loaded, { about, options, host })
      : showDiff(loaded, { about, options, host }),
  );
  return isInForce(loaded) ? 0 : 1;
}

interface Document {
  readonly ns: string;
  readonly key: string;
  readonly tag: string;
  readonly file: string;
}

interface Showing {
  readonly about: Document;
  readonly options: OverridesOptions;
  readonly host: Host;
}

/** Unedited overrides may be left out. */
function isInForce({ stale, unknown, invalid }: LoadedOverrides): boolean {
  return ![...stale, ...unknown, ...invalid].some(({ edited }) => edited);
}

function describeSeed({
  file,
  created,
  sections,
  tools,
}: Document & { readonly created: boolean; readonly sections: number; readonly tools: number }): string {
  const texts = `${formatCount(sections, 'section')} and ${formatCount(tools, 'tool')}`;
  return created
    ? `Wrote ${toPrintable(file)} with the texts of ${texts}.\n`
    : `${toPrintable(file)} already exists, with the texts of ${texts}; not changed.\n`;
}

function showStatus(loaded: LoadedOverrides, { about, options, host }: Showing): string {
  const states = listStates(loaded);
  if (!options.json) return formatStates(states, { ...describeStyle(host), title: toTitle(about) });
  return `${toJsonText({ ...about, ok: isInForce(loaded), overrides: states.map(toRow) }, 2)}\n`;
}

function showDiff(loaded: LoadedOverrides, { about, options, host }: Showing): string {
  const states = listStates(loaded).filter(({ state, edited }) => edited || state !== 'applied');
  if (options.json) {
    const overrides = states.map((state) => ({
      ...toRow(state),
      current: state.current,
      override: state.override,
      patch: toPatch(state) ?? null,
    }));
    return `${toJsonText({ ...about, ok: isInForce(loaded), overrides }, 2)}\n`;
  }
  return formatDifferences(states, { ...describeStyle(host), title: toTitle(about) });
}

function toRow({ section, tool, part, state, edited, hash, why }: OverrideState): object {
  return { section: section ?? null, tool: tool ?? null, part, state, edited, hash, why: why ?? null };
}

function toTitle({ ns, key, tag, file }: Document): string {
  return `${ns}/${key}, ${tag}: ${file}`;
}

/** The command that creates the missing file. */
function toSeed({ module, export: exportName, tag, dir }: OverridesOptions, host: Host): string {
  const chosen = [
    ...(exportName === undefined ? [] : ['--export', exportName]),
    ...(tag === defaultTag ? [] : ['--tag', tag]),
    ...(dir === defaultFolder ? [] : ['--dir', dir]),
  ];
  return toCommand({ words: ['overrides', 'seed', module, ...chosen], workspace: host.directory }, host);
}

function countKeys(record: object): number {
  return Object.keys(record).length;
}
