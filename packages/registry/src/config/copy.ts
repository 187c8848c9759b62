import { describeThrown, isPack, isPlainObject, isPlugin } from '@holdfast/core/internal';

/** The copied configuration, with plugins, packs and other non-data values unchanged; or the reason why it cannot be copied. */
export type CopiedConfig =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly path: string; readonly problem: string };

const maxDepth = 80;
const maxValues = 100_000;

/** Copies a configuration object: each property is read once, and later changes have no effect. */
export function copyConfig(value: unknown): CopiedConfig {
  const copying: Copying = { valuesLeft: maxValues, path: [], problem: undefined };
  try {
    const copied = copy(value, copying);
    if (copying.problem === undefined) return { ok: true, value: copied };
  } catch (thrown) {
    copying.problem = `cannot be read: ${describeThrown(thrown).slice(0, 200)}`;
  }
  return { ok: false, path: showPath(copying.path), problem: copying.problem };
}

interface Copying {
  valuesLeft: number;
  /** The current path; after an error, the path of the error. */
  readonly path: (string | number)[];
  problem: string | undefined;
}

function copy(value: unknown, copying: Copying): unknown {
  copying.valuesLeft -= 1;
  if (copying.valuesLeft < 0) copying.problem = `exceeds the limit of ${maxValues} values in total`;
  else if (copying.path.length > maxDepth) copying.problem = 'is nested too deeply, or circular';
  if (copying.problem !== undefined) return undefined;
  if (Array.isArray(value)) return copyArray(value, copying);
  return isPlainObject(value) && !isPlugin(value) && !isPack(value) ? copyObject(value, copying) : value;
}

function copyArray(list: readonly unknown[], copying: Copying): readonly unknown[] {
  const items: unknown[] = [];
  const { length } = list;
  for (let index = 0; index < length; index += 1) {
    copying.path.push(index);
    items.push(copy(list[index], copying));
    if (copying.problem !== undefined) break;
    copying.path.pop();
  }
  return items;
}

function copyObject(object: Readonly<Record<string, unknown>>, copying: Copying): unknown {
  // No prototype: lookups find own keys only.
  const copied: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    copying.path.push(key);
    if (key === '__proto__') copying.problem = 'is a reserved key';
    else copied[key] = copy(object[key], copying);
    if (copying.problem !== undefined) break;
    copying.path.pop();
  }
  return copied;
}

/** E.g. `plugins[0].config`; empty for the whole value. */
export function showPath(path: readonly unknown[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part).slice(0, 100) : `.${String(part).slice(0, 100)}`;
  }
  return text.slice(0, 500);
}
