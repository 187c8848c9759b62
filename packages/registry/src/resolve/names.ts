// What is easily taken for something else, in many typefaces. Those of two letters come first.
const lookAlikes: readonly (readonly [RegExp, string])[] = [
  [/[^\p{Letter}\p{Number}]+/gu, ''],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/[1i|]/g, 'l'],
  [/0/g, 'o'],
];

/**
 * What two names have in common that a model or person may mix up: it leaves out case, `_` and `-`, and what looks alike (`1`, `l` and
 * `i`; `0` and `o`; `rn` and `m`; `vv` and `w`).
 */
export function foldName(name: string): string {
  return lookAlikes.reduce((folded, [like, one]) => folded.replace(like, one), name.normalize('NFKC').toLowerCase());
}

/** The name of `names` that is spelled most like `name`, if any is. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, 64);
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const distance = countEdits(wanted, candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

// Levenshtein distance, one row at a time.
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1) {
      const [above = 0, diagonal = 0, left = 0] = [row[at + 1], row[at], next[at]];
      next.push(Math.min(above + 1, left + 1, diagonal + (from[index] === to[at] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** What a configuration's name of a plugin or pack stands for. */
export type EntryName =
  | { readonly type: 'package'; readonly name: string; readonly exportName: string | undefined }
  | { readonly type: 'path'; readonly path: string; readonly exportName: string | undefined }
  /** A pack that a plugin offers. */
  | { readonly type: 'offered'; readonly plugin: string; readonly pack: string };

const pattern = /^(?<name>[^#\s][^#]{0,1000}?)(?:#(?<exportName>[\p{ID_Start}$_][\p{ID_Continue}$]{0,100}))?$/u;
const packagePattern = /^(?=.{1,214}$)(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const offeredPattern = /^(?<plugin>[a-z0-9][a-z0-9-]{0,31})\/(?<pack>[a-z0-9][a-z0-9-]{0,31})$/;

/** `undefined`: it is no such name. */
export function readEntryName(text: string): EntryName | undefined {
  const { name, exportName } = pattern.exec(text)?.groups ?? {};
  if (name === undefined) return undefined;
  if (/^\.{1,2}\//.test(name)) return { type: 'path', path: name, exportName };
  if (packagePattern.test(name)) return { type: 'package', name, exportName };
  const { plugin, pack } = offeredPattern.exec(text)?.groups ?? {};
  return plugin === undefined || pack === undefined ? undefined : { type: 'offered', plugin, pack };
}
