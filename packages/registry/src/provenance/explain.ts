import type { Section } from '@holdfast/core';
import type { ToolOrigin } from '@holdfast/core/types';
import type { Winners } from '../resolve/host-options.ts';
import { foldName } from '../resolve/names.ts';
import type { Placed, PlacedTool } from '../resolve/place-plugin.ts';
import type { TakenPlugin } from '../resolve/take-plugin.ts';
import type { Explanation, Provenance, RegisteredKind, RegisteredPack, RegisteredPlugin } from '../resolve/types.ts';
import type { Used } from './view.ts';

/** Explains all plugins and packs and their contributions, by kind, name and owner. */
export function explainAll(used: readonly Used[], winners: Winners): readonly Explanation[] {
  const owners = ownersByName(used);
  const packs = used.flatMap((one) => (one.type === 'pack' ? [one.registered] : []));
  const explanations = used.flatMap((one) => {
    switch (one.type) {
      case 'pack':
        return explainPack(one.registered, used);
      case 'left-out':
        return [explainLeftOut(one)];
      case 'plugin':
        return explainPlugin(one, { owners, winners, packs });
      default:
        return one satisfies never;
    }
  });
  return Object.freeze(explanations.toSorted(compare));
}

type LeftOut = Extract<TakenPlugin, { readonly type: 'left-out' }>;
type InForce = Extract<TakenPlugin, { readonly type: 'plugin' }>;

interface Surroundings {
  /** Plugins with a tool or command of a name, by its kind and folded name. */
  readonly owners: ReadonlyMap<string, readonly string[]>;
  readonly winners: Winners;
  readonly packs: readonly RegisteredPack[];
}

function explainLeftOut({ registered: { name, provenance }, problem }: LeftOut): Explanation {
  return toExplanation('plugin', { name, qualifiedName: name, inForce: false, provenance, note: problem.message });
}

function explainPlugin({ registered, contributions, placed }: InForce, around: Surroundings): readonly Explanation[] {
  const { name: plugin, prefix, provenance } = registered;
  const prefixed = prefix === undefined ? '' : `prefixed with \`${prefix}\``;
  const place = (
    kind: RegisteredKind,
    things: readonly (Placed<unknown> & Partial<Pick<PlacedTool, 'origin'>>)[],
  ): readonly Explanation[] =>
    things.map(({ ownName, name, value, origin }) => {
      const notes = [ownName === name || kind === 'policy' ? '' : prefixed];
      if (kind === 'tool' || kind === 'command') notes.push(noteOwners({ kind, name, plugin }, around));
      const inForce = value !== undefined;
      return toExplanation(kind, {
        name,
        qualifiedName: `${plugin}/${ownName}`,
        inForce,
        provenance: fromFile(provenance, origin),
        note: join(notes),
      });
    });
  const list = (kind: RegisteredKind, names: readonly string[]): readonly Explanation[] =>
    names.map((name) =>
      toExplanation(kind, {
        name: kind === 'model' ? `${plugin}/${name}` : name,
        qualifiedName: `${plugin}/${name}`,
        inForce: true,
        provenance,
      }),
    );
  return [
    toExplanation('plugin', { name: plugin, qualifiedName: plugin, inForce: true, provenance, note: prefixed }),
    ...place('tool', placed.tools),
    ...place('policy', placed.policies),
    ...placed.sections.flatMap(({ ownName, value }) =>
      value === undefined ? [] : explainSection(value, { path: value.key, own: `${plugin}/${ownName}` }, registered),
    ),
    ...place('command', placed.commands),
    ...list(
      'slice',
      contributions.slices.map(({ id }) => id),
    ),
    ...list(
      'resource',
      contributions.resources.map(({ name }) => name),
    ),
    ...list(
      'model',
      contributions.models.map(({ name }) => name),
    ),
    ...contributions.packs
      .filter((pack) => !around.packs.some((used) => used.pack === pack))
      .map(({ name }) =>
        toExplanation('pack', {
          name,
          qualifiedName: `${plugin}/${name}`,
          inForce: false,
          provenance,
          note: 'offered, but not used',
        }),
      ),
  ];
}

/** A tool with an origin comes from that file, not from the plugin's. */
function fromFile(provenance: Provenance, origin: ToolOrigin | undefined): Provenance {
  const { plugin, package: packageName = plugin } = provenance;
  if (origin === undefined || origin.kind === 'mcp' || origin.source === packageName) return provenance;
  const { digest: _other, ...rest } = provenance;
  const { source, digest } = origin;
  // The loader prefixes the plugin's name, which is redundant here.
  const file = source.startsWith(`${plugin}: `) ? source.slice(plugin.length + 2) : source;
  return Object.freeze({ ...rest, file, ...(digest === undefined ? {} : { digest }) });
}

/** Explains a section, its policies, slices and subsections. Policies of a section are named by its path and their id. */
function explainSection(
  { policies, slices, children }: Section,
  { path, own }: { readonly path: string; readonly own: string },
  registered: RegisteredPlugin,
): readonly Explanation[] {
  const { name: plugin, prefix, provenance } = registered;
  const note = prefix === undefined ? '' : `prefixed with \`${prefix}\``;
  return [
    toExplanation('section', { name: path, qualifiedName: own, inForce: true, provenance, note }),
    ...policies.map(({ id }) =>
      toExplanation('policy', {
        name: `${path}/${id}`,
        qualifiedName: `${own}/${id}`,
        inForce: true,
        provenance,
        note,
      }),
    ),
    ...slices.map(({ id }) =>
      toExplanation('slice', { name: id, qualifiedName: `${plugin}/${id}`, inForce: true, provenance }),
    ),
    ...children.flatMap((child) =>
      explainSection(child, { path: `${path}.${child.key}`, own: `${own}.${child.key}` }, registered),
    ),
  ];
}

function noteOwners(
  { kind, name, plugin }: { readonly kind: RegisteredKind; readonly name: string; readonly plugin: string },
  { owners, winners }: Surroundings,
): string {
  const winner = winners.ownerOf(name);
  if (winner !== undefined && winner !== plugin) return `\`winners\` gives the name to \`${winner}\``;
  const others = owners.get(`${kind}:${foldName(name)}`)?.filter((other) => other !== plugin) ?? [];
  if (others.length === 0) return '';
  return `${others
    .toSorted()
    .map((other) => `\`${other}\``)
    .join(', ')} ${others.length === 1 ? 'has' : 'have'} the same name`;
}

function explainPack(
  { id, pack, preset, observe, policies, provenance }: RegisteredPack,
  used: readonly Used[],
): readonly Explanation[] {
  const offering = used
    .flatMap((one) => (one.type === 'plugin' && one.contributions.packs.includes(pack) ? [one.registered] : []))
    .toSorted((a, b) => compareTexts([a.name], [b.name]));
  const names = offering.map(({ name, version }) => `\`${name}\` ${version}`).join(', ');
  const notes = [
    `preset \`${preset}\``,
    observe ? 'not enforced' : '',
    names === '' ? '' : `offered by the plugin${offering.length === 1 ? '' : 's'} ${names}`,
  ];
  const [owner, another] = offering;
  // With several offers, the host chose the pack itself.
  const qualifiedName = owner === undefined || another !== undefined ? pack.name : `${owner.name}/${pack.name}`;
  return [
    toExplanation('pack', { name: id, qualifiedName, inForce: true, provenance, note: join(notes) }),
    ...policies.map((policy) =>
      toExplanation('policy', {
        name: policy.id,
        qualifiedName: `${id}/${policy.id.slice(id.length + 1)}`,
        inForce: true,
        provenance,
        note: observe ? 'not enforced' : '',
      }),
    ),
  ];
}

function ownersByName(used: readonly Used[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const one of used) {
    if (one.type !== 'plugin') continue;
    const { tools, commands } = one.placed;
    const keys = [
      ...tools.map(({ name }) => `tool:${foldName(name)}`),
      ...commands.map(({ name }) => `command:${foldName(name)}`),
    ];
    for (const key of keys) {
      const known = owners.get(key);
      if (known === undefined) owners.set(key, [one.registered.name]);
      else known.push(one.registered.name);
    }
  }
  return owners;
}

function toExplanation(
  kind: RegisteredKind,
  {
    note = '',
    ...rest
  }: {
    readonly name: string;
    readonly qualifiedName: string;
    readonly inForce: boolean;
    readonly provenance: Provenance;
    readonly note?: string;
  },
): Explanation {
  return Object.freeze({ kind, ...rest, ...(note === '' ? {} : { note }) });
}

function join(notes: readonly string[]): string {
  return notes.filter((note) => note !== '').join('; ');
}

function compare(a: Explanation, b: Explanation): number {
  return compareTexts([a.kind, a.name, a.qualifiedName], [b.kind, b.name, b.qualifiedName]);
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, index) => text !== b[index]);
  return at < 0 ? 0 : (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}
