import { HoldfastError, type Policy, type Section, type Slice, type Tool } from '@holdfast/core';
import { findToolNameProblem } from '@holdfast/core/internal';
import type { PluginCommand, ToolOrigin } from '@holdfast/core/types';
import { type Claim, toKey } from './claims.ts';
import { HostMistake, type Winners } from './host-options.ts';
import { foldName } from './names.ts';
import { type OwnNames, renameAll, renamePolicy, renameSection, toOwnNames } from './own-names.ts';
import type { Contributions } from './read-contributions.ts';

/** A value under its name in force, or the one it would have. */
export interface Placed<Value> {
  readonly ownName: string;
  readonly name: string;
  /** `undefined`: the host gave the name to another plugin. */
  readonly value: Value | undefined;
}

/** A placed tool with its declared origin. */
export interface PlacedTool extends Placed<Tool> {
  readonly origin: ToolOrigin | undefined;
}

/** A plugin's contributions under their final names. */
export interface PlacedPlugin {
  readonly names: OwnNames;
  readonly tools: readonly PlacedTool[];
  /** Active tools outside sections. */
  readonly looseTools: readonly Tool[];
  readonly sections: readonly Placed<Section>[];
  readonly policies: readonly Placed<Policy>[];
  readonly commands: readonly Placed<PluginCommand>[];
  /** Names that it takes in addition to its own. */
  readonly claims: readonly Claim[];
}

interface Place {
  readonly name: string;
  readonly version: string;
  readonly prefix: string | undefined;
}

/** Tools built into prompts. */
const promptTools: ReadonlySet<string> = new Set(['open_sections', 'read_section'].map(foldName));

/**
 * Assigns final names to the contributions of a plugin.
 *
 * @throws HostMistake `registry.invalid`. Other errors are the plugin's.
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
  if (promptTools.has(foldName(name))) throw new Error(`\`${name}\` looks like a built-in tool of prompts`);
  return name;
}

function withPrefix({ name, prefix }: Place, joint: '_' | '-', own: string, maxLength: number): string {
  if (prefix === undefined) return own;
  const prefixed = `${joint === '-' ? prefix.replaceAll('_', '-') : prefix}${joint}${own}`;
  if (prefixed.length <= maxLength && findToolNameProblem(prefixed) === undefined) return prefixed;
  throw new HostMistake(
    new HoldfastError(
      'registry.invalid',
      `The prefix \`${prefix}\` turns \`${own}\` of the plugin \`${name}\` into \`${prefixed}\`, which exceeds ${maxLength} characters: choose a shorter prefix.`,
      { data: { reason: 'prefix.invalid', plugin: name, prefix, name: own } },
    ),
  );
}

function renameCommand(command: PluginCommand, name: string): PluginCommand {
  // Bound to the original command, in case it uses `this`.
  return Object.freeze({ ...command, name, run: command.run.bind(command) });
}

/** Of the section and its subsections. */
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
  // An offered pack takes no name until used, but two must not be offered under one name.
  const offered = packs.map(({ name }) => own('pack', name));
  const seen = new Map<string, Claim>();
  for (const claim of [...claims, ...offered]) {
    const twin = seen.get(toKey(claim));
    if (twin !== undefined && (twin.value === undefined || twin.value !== claim.value))
      throw new Error(
        `two of its ${plural(claim.kind)} have names that look alike: \`${twin.name}\` and \`${claim.name}\``,
      );
    seen.set(toKey(claim), claim);
  }
  return claims;
}

function plural(kind: string): string {
  return kind === 'policy' ? 'policies' : `${kind}s`;
}
