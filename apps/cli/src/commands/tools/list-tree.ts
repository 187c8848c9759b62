import type { Explanation } from '@holdfast/registry';
import type { RegisteredKind } from '@holdfast/registry/internal';
import type { LineStyle } from '../../calls/line.ts';
import type { Equipment } from '../../settings/equipment.ts';
import { describeProvenance, listEverything } from '../../settings/registry-view.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';

/** A plugin, in force or left out, or a pack in force, with its contributions. */
export interface Branch extends Explanation {
  readonly contributes: readonly Explanation[];
}

/** Everything by owner, including what could not be used. */
export function toTree({ registry, leftOut }: Pick<Equipment, 'registry' | 'leftOut'>): readonly Branch[] {
  const everything = listEverything(registry);
  const heads = [
    ...everything.filter(({ kind }) => kind === 'plugin'),
    ...everything.filter(({ kind, inForce }) => kind === 'pack' && inForce),
  ];
  const known = new Set(heads.map(({ note }) => note));
  const others = leftOut
    .filter(({ message }) => !known.has(message))
    .map(({ plugin: name, message: note }): Explanation => {
      const provenance = { plugin: name, version: '' };
      return { kind: 'plugin', name, qualifiedName: name, inForce: false, provenance, note };
    });
  return [...heads, ...others].map((head) => ({
    ...head,
    contributes: everything.filter((one) => isBroughtBy(head, one)),
  }));
}

function isBroughtBy({ kind, name, provenance }: Explanation, one: Explanation): boolean {
  if (!one.qualifiedName.startsWith(`${name}/`)) return false;
  // A pack in force owns itself; the plugin that offers it also lists it.
  return one.kind === 'pack' ? kind === 'plugin' : one.provenance.plugin === provenance.plugin;
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
  return branches.flatMap(({ kind: headKind, name, inForce, note = '', provenance, contributes }, index) => {
    const parts = [
      [headKind === 'pack' ? 'guard' : '', name, provenance.version],
      [describeProvenance(provenance)],
      [note === '' ? '' : `(${inForce ? '' : 'left out: '}${note})`],
    ].map((part) => part.filter((text) => text !== '').join(' '));
    const head = wrapBlock(toPrintable(parts.filter((part) => part !== '').join('  ')), width);
    const lines = kinds.flatMap(([kind, title]) => {
      const names = contributes.filter((one) => one.kind === kind).map(describeOne);
      return names.length === 0 ? [] : hang(`  ${title.padEnd(10)}`, names.join(', '), width);
    });
    return [...(index === 0 ? [] : ['']), ...head.map(inForce ? colors.bold : colors.red), ...lines];
  });
}

function describeOne({ name, inForce }: Explanation): string {
  return inForce ? name : `${name} (not in force)`;
}

/** `text` after a label, with continuation lines aligned. */
function hang(label: string, text: string, width: number): readonly string[] {
  const lines = wrapBlock(toPrintable(text), Math.max(20, width - label.length));
  return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(label.length)}${line}`);
}
