import { join } from 'node:path';
import type { Explanation } from '@holdfast/registry';
import type { Command } from 'commander';
import type { LineStyle } from '../../calls/line.ts';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addFolderOptions } from '../../flags/config.ts';
import { builtInPlugins } from '../../settings/builtin-plugins.ts';
import { describeNearest } from '../../settings/equipment.ts';
import {
  type ExplainedRule,
  type ExplainedRules,
  explainRules,
  explainUserRules,
  meansRules,
  userRules,
} from '../../settings/explain-rules.ts';
import {
  describeProvenance,
  explain,
  listEverything,
  type ViewPlace,
  viewEquipment,
} from '../../settings/registry-view.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';

const help = `
Examples:
  $ holdfast explain push             anything with this name: a tool, command, policy, section, …
  $ holdfast explain git/push         the qualified name
  $ holdfast explain git_push         the name a model sees, with the host's prefix
  $ holdfast explain holdfast.policy.yaml    the rules of a file, with their lines; \`user-rules\`: your own for the guard
  $ holdfast explain push --json | jq -r '.[].provenance.package'

Shows where the name came from (plugin, package, version, file, digest), whether it is in force, and if not, why. Exits with 2 if
nothing has this name.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addFolderOptions(command.argument('<name>', 'name as seen by a model, as declared by its plugin, or `plugin/name`'))
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (name: string, flags: Omit<ExplainOptions, 'name'>) =>
      end(await explainName({ ...flags, name }, host)),
    );
}

export interface ExplainOptions extends ViewPlace {
  readonly name: string;
  readonly json?: boolean | undefined;
}

/**
 * Prints the origin of a name.
 *
 * @throws HoldfastError `usage.invalid` (`name_unknown`), and as `viewEquipment`.
 */
export async function explainName({ name, json, ...place }: ExplainOptions, host: Host): Promise<ExitCode> {
  return await viewEquipment(place, host, async ({ registry, settings, toolset: { folder } }): Promise<ExitCode> => {
    const rules = [...explainRules(settings.effective), ...(isUsers(name) ? await explainUserRules(host) : [])];
    const found = [...explain(registry, name), ...rules.filter((one) => meansRules(name, one))];
    if (found.length === 0) {
      const names = [...listEverything(registry), ...rules].flatMap((one) => [one.name, one.qualifiedName]);
      throw usageError(
        'name_unknown',
        `Unknown name \`${name.slice(0, 200)}\`.${describeNearest(name, names)} Run \`holdfast list --tree\` to see all names.`,
      );
    }
    const style = { ...describeStyle(host), folder: folder.name };
    const text = json ? toJsonText(found, 2) : found.map((one) => format(one, style).join('\n')).join('\n\n');
    host.stdout.write(`${text}\n`);
    return 0;
  });
}

/** Only then the file of the user is read, which may be invalid. */
function isUsers(name: string): boolean {
  return name === userRules || name === `host/${userRules}` || name.includes('holdfast.policy.');
}

function format(
  { kind, name, qualifiedName, inForce, provenance, note, rules = [] }: Explanation & Partial<ExplainedRules>,
  { colors, columns, folder }: LineStyle & { readonly folder: string },
): readonly string[] {
  const { plugin, version, file, digest } = provenance;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['qualified', qualifiedName === name ? undefined : qualifiedName],
    ['from', `${plugin} ${version}`],
    ['package', provenance.package === undefined ? undefined : describeProvenance(provenance)],
    // The path of a tool file is relative to its folder.
    ['file', file !== undefined && plugin === builtInPlugins.folder ? join(folder, file) : file],
    ['SHA-256', digest],
    ['note', note],
    ...rules.map((rule) => [placeOf(rule), rule.says] as const),
  ];
  const width = Math.max(10, ...rules.map((rule) => placeOf(rule).length + 2));
  const lines = rows.flatMap(([label, text]) =>
    text === undefined
      ? []
      : wrapBlock(`  ${toPrintable(label).padEnd(width)}${toPrintable(text)}`, Math.min(columns, 140) - 1),
  );
  const state = inForce ? colors.green('in force') : colors.yellow('not in force');
  return [`${colors.bold(toPrintable(name))}  ${kind}, ${state}`, ...lines];
}

/** The file is named above. */
function placeOf({ line }: ExplainedRule): string {
  return line === undefined ? 'rule' : `line ${line}`;
}
