// Characters that look alike in many typefaces. Pairs come first.
const lookAlikes: readonly (readonly [RegExp, string])[] = [
  [/[^\p{Letter}\p{Number}]+/gu, ''],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/[1i|]/g, 'l'],
  [/0/g, 'o'],
];

/**
 * Folds names that a model or person may mix up to the same text: ignores case, `_` and `-`, and characters that look
 * alike (`1`, `l` and `i`; `0` and `o`; `rn` and `m`; `vv` and `w`).
 */
export function foldName(name: string): string {
  return lookAlikes.reduce((folded, [like, one]) => folded.replace(like, one), name.normalize('NFKC').toLowerCase());
}

/** The parsed name of a plugin or pack in a configuration. */
export type EntryName =
  | { readonly type: 'package'; readonly name: string; readonly exportName: string | undefined }
  | { readonly type: 'path'; readonly path: string; readonly exportName: string | undefined }
  /** A pack that a plugin offers. */
  | { readonly type: 'offered'; readonly plugin: string; readonly pack: string };

const pattern = /^(?<name>[^#\s][^#]{0,1000}?)(?:#(?<exportName>[\p{ID_Start}$_][\p{ID_Continue}$]{0,100}))?$/u;
const packagePattern = /^(?=.{1,214}$)(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const offeredPattern = /^(?<plugin>[a-z0-9][a-z0-9-]{0,31})\/(?<pack>[a-z0-9][a-z0-9-]{0,31})$/;

/** `undefined` if not a valid name. */
export function readEntryName(text: string): EntryName | undefined {
  const { name, exportName } = pattern.exec(text)?.groups ?? {};
  if (name === undefined) return undefined;
  if (/^\.{1,2}\//.test(name)) return { type: 'path', path: name, exportName };
  if (packagePattern.test(name)) return { type: 'package', name, exportName };
  const { plugin, pack } = offeredPattern.exec(text)?.groups ?? {};
  return plugin === undefined || pack === undefined ? undefined : { type: 'offered', plugin, pack };
}
