import type { Explanation, RegisteredKind, RegisteredPlugin } from '@holdfast/registry';
import type { LineStyle } from '../../calls/line.ts';
import type { Equipment } from '../../settings/equipment.ts';
import { describeProvenance, listEverything } from '../../settings/registry-view.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';

/** A plugin, or a pack that a host has put in force, and what it brings along. */
export interface Branch {
  readonly type: 'plugin' | 'pack';
  /** Of a pack the id by which it is in force. */
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly inForce: boolean;
  /** Why it is left out, which prefix its tools have, which preset of a pack it is. */
  readonly note?: string;
  readonly provenance: Explanation['provenance'];
  readonly contributes: readonly Explanation[];
}

/** Everything by who brought it along: the plugins in the order of use, the packs in force, and what could not be used at all. */
export function toTree({ registry, leftOut }: Pick<Equipment, 'registry' | 'leftOut'>): readonly Branch[] {
  const everything = listEverything(registry);
  const plugins = registry.plugins.map((plugin): Branch => {
    // A pack in force is its own owner; who offers it has it in its tree, too.
    const contributes = everything.filter(
      ({ kind, provenance, qualifiedName }) =>
        kind !== 'plugin' &&
        (kind === 'pack' || provenance.plugin === plugin.name) &&
        qualifiedName.startsWith(`${plugin.name}/`),
    );
    const { name, version, description, state, provenance } = plugin;
    const note = describePlugin(plugin);
    return {
      type: 'plugin',
      name,
      version,
      description,
      inForce: state === 'in-force',
      ...(note === undefined ? {} : { note }),
      provenance,
      contributes,
    };
  });
  const packs = registry.packsInForce.map(({ id, pack, preset, observe, policies, provenance }): Branch => {
    const ids = new Set(policies.map((policy) => policy.id));
    return {
      type: 'pack',
      name: id,
      version: pack.version,
      description: pack.description,
      inForce: true,
      note: `preset ${preset}${observe ? ', only tried out' : ''}`,
      provenance,
      contributes: everything.filter(({ kind, name }) => kind === 'policy' && ids.has(name)),
    };
  });
  const known = new Set<unknown>(registry.plugins.flatMap(({ problem }) => problem?.message ?? []));
  const others = leftOut
    .filter(({ message }) => !known.has(message))
    .map(({ plugin, message }): Branch => {
      const note = `left out: ${message}`;
      const provenance = { plugin, version: '' };
      return {
        type: 'plugin',
        name: plugin,
        version: '',
        description: '',
        inForce: false,
        note,
        provenance,
        contributes: [],
      };
    });
  return [...plugins, ...packs, ...others];
}

function describePlugin({ prefix, problem }: RegisteredPlugin): string | undefined {
  if (problem !== undefined) return `left out: ${problem.message}`;
  return prefix === undefined ? undefined : `prefix ${prefix}`;
}

const kinds: readonly (readonly [kind: RegisteredKind, title: string])[] = [
  ['tool', 'tools'],
  ['section', 'sections'],
  ['policy', 'policies'],
  ['pack', 'packs'],
  ['slice', 'slices'],
  ['model', 'models'],
  ['resource', 'resources'],
  ['command', 'commands'],
];

export function formatTree(branches: readonly Branch[], { colors, columns }: LineStyle): readonly string[] {
  const width = Math.min(columns, 140) - 1;
  return branches.flatMap(({ type, name, version, inForce, note, description, provenance, contributes }, index) => {
    const place = describeProvenance(provenance);
    const head = `${type === 'pack' ? 'guard ' : ''}${[name, version].filter((part) => part !== '').join(' ')}${place === '' ? '' : `  ${place}`}${note === undefined ? '' : `  (${note})`}`;
    const paint = inForce ? colors.bold : colors.red;
    const lines = kinds.flatMap(([kind, title]) => {
      const names = contributes.filter((one) => one.kind === kind).map(describeOne);
      return names.length === 0 ? [] : hang(`  ${title.padEnd(10)}`, names.join(', '), width);
    });
    return [
      ...(index === 0 ? [] : ['']),
      ...wrapBlock(toPrintable(head), width).map((line) => paint(line)),
      ...(description === '' ? [] : wrapBlock(`  ${toPrintable(description)}`, width)),
      ...lines,
    ];
  });
}

function describeOne({ name, inForce }: Explanation): string {
  return inForce ? name : `${name} (not in force)`;
}

/** `text` behind a label, and what does not fit below itself. */
function hang(label: string, text: string, width: number): readonly string[] {
  const lines = wrapBlock(toPrintable(text), Math.max(20, width - label.length));
  return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(label.length)}${line}`);
}
