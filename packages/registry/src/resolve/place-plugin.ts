import {
  findToolNameProblem,
  HoldfastError,
  type PluginCommand,
  type Policy,
  type Section,
  type Slice,
  type Tool,
  type ToolOrigin,
} from '@holdfast/core';
import { type Claim, toKey } from './claims.ts';
import { HostMistake, type Winners } from './host-options.ts';
import { foldName } from './names.ts';
import { type OwnNames, renameAll, renamePolicy, renameSection, toOwnNames } from './own-names.ts';
import type { Contributions } from './read-contributions.ts';

/** A thing under the name that it has, or would have, in force. */
export interface Placed<Value> {
  readonly ownName: string;
  readonly name: string;
  /** `undefined`: the host has given the name to another plugin. */
  readonly value: Value | undefined;
}

/** A tool under such a name, in force or not, with where it says that it is from. */
export interface PlacedTool extends Placed<Tool> {
  readonly origin: ToolOrigin | undefined;
}

/** What a plugin contributes under the names of its place. */
export interface PlacedPlugin {
  readonly names: OwnNames;
  readonly tools: readonly PlacedTool[];
  /** Those in force that no section carries. */
  readonly looseTools: readonly Tool[];
  readonly sections: readonly Placed<Section>[];
  readonly policies: readonly Placed<Policy>[];
  readonly commands: readonly Placed<PluginCommand>[];
  /** Names that it takes beside its own. */
  readonly claims: readonly Claim[];
}

interface Place {
  readonly name: string;
  readonly version: string;
  readonly prefix: string | undefined;
}

/** What prompts bring themselves. */
const promptTools: ReadonlySet<string> = new Set(['open_sections', 'read_section'].map(foldName));

/**
 * Gives what a plugin contributes its names.
 *
 * @throws HostMistake `registry.prefix.invalid`. Whatever else it throws is the plugin's fault.
 */
export function placePlugin(place: Place, contributions: Contributions, winners: Winners): PlacedPlugin {
  const isTheirs = (name: string): boolean => (winners.ownerOf(name) ?? place.name) === place.name;
  const allTools = [...contributions.tools, ...contributions.sections.flatMap(toolsOf)];
  const names = toOwnNames(allTools, ({ name }) => {
    const prefixed = toToolName(place, name);
    return isTheirs(prefixed) ? prefixed : undefined;
  });

  const looseTools = renameAll(contributions.tools, names);
  const sections = contributions.sections.map((section): Placed<Section> => {
    const key = withPrefix(place, '_', section.key, 64);
    return { ownName: section.key, name: key, value: Object.freeze({ ...renameSection(section, names), key }) };
  });
  const inForce = [...looseTools, ...sections.flatMap(({ value }) => (value === undefined ? [] : toolsOf(value)))];
  const byName = new Map(inForce.map((tool) => [tool.name, tool]));
  const tools = allTools.map(({ name: ownName, origin }): PlacedTool => {
    const name = toToolName(place, ownName);
    return { ownName, name, origin, value: isTheirs(name) ? byName.get(name) : undefined };
  });
  const policies = contributions.policies.map((policy): Placed<Policy> => {
    const id = `${place.name}-${policy.id}`.slice(0, 64);
    return { ownName: policy.id, name: id, value: renamePolicy(policy, names, { id, ownOnly: true }) };
  });
  const commands = contributions.commands.map((command): Placed<PluginCommand> => {
    const name = withPrefix(place, '-', command.name, 32);
    return { ownName: command.name, name, value: isTheirs(name) ? renameCommand(command, name) : undefined };
  });
  const placed = { names, tools, looseTools, sections, policies, commands };
  return { ...placed, claims: toClaims(place, contributions, placed) };
}

function toToolName(place: Place, own: string): string {
  const name = withPrefix(place, '_', own, 64);
  if (promptTools.has(foldName(name))) throw new Error(`\`${name}\` is taken for a tool that prompts bring themselves`);
  return name;
}

function withPrefix({ name, prefix }: Place, joint: '_' | '-', own: string, maxLength: number): string {
  if (prefix === undefined) return own;
  const prefixed = `${joint === '-' ? prefix.replaceAll('_', '-') : prefix}${joint}${own}`;
  if (prefixed.length <= maxLength && findToolNameProblem(prefixed) === undefined) return prefixed;
  throw new HostMistake(
    new HoldfastError(
      'registry.prefix.invalid',
      `With the prefix \`${prefix}\`, \`${own}\` of the plugin \`${name}\` would be \`${prefixed}\`, and a name has ${maxLength} characters at most: choose a shorter one.`,
      { data: { plugin: name, prefix, name: own } },
    ),
  );
}

function renameCommand(command: PluginCommand, name: string): PluginCommand {
  // Called on the command, as its author wrote it.
  return Object.freeze({ ...command, name, run: command.run.bind(command) });
}

/** Of the section and of those under it. */
function toolsOf({ tools, children }: Section): readonly Tool[] {
  return [...tools, ...children.flatMap(toolsOf)];
}

function slicesOf({ slices, children }: Section): readonly Slice[] {
  return [...slices, ...children.flatMap(slicesOf)];
}

function toClaims(
  { name: plugin, version }: Place,
  { sections, slices, models, resources, packs }: Contributions,
  placed: Omit<PlacedPlugin, 'claims'>,
): readonly Claim[] {
  const owner = `the plugin \`${plugin}\` ${version}`;
  const own = (kind: Claim['kind'], name: string, value?: unknown): Claim => ({ kind, name, owner, value });
  const inForce = (kind: Claim['kind'], things: readonly Placed<unknown>[]): readonly Claim[] =>
    things.flatMap(({ name, value }) => (value === undefined ? [] : [own(kind, name)]));
  const claims = [
    ...inForce('tool', placed.tools),
    ...inForce('policy', placed.policies),
    ...inForce('section', placed.sections),
    ...inForce('command', placed.commands),
    ...[...slices, ...sections.flatMap(slicesOf)].map((slice) => own('slice', slice.id, slice)),
    ...resources.map((resource) => own('resource', resource.name, resource)),
    ...models.map(({ name }) => own('model', `${plugin}/${name}`)),
  ];
  // An offered pack takes no name until it is used, but two must not be offered under one.
  const offered = packs.map(({ name }) => own('pack', name));
  const seen = new Map<string, Claim>();
  for (const claim of [...claims, ...offered]) {
    const twin = seen.get(toKey(claim));
    if (twin !== undefined && (twin.value === undefined || twin.value !== claim.value))
      throw new Error(
        `two of its ${plural(claim.kind)} have names that are easily mixed up: \`${twin.name}\` and \`${claim.name}\``,
      );
    seen.set(toKey(claim), claim);
  }
  return claims;
}

function plural(kind: string): string {
  return kind === 'policy' ? 'policies' : `${kind}s`;
}
