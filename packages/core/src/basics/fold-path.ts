import { unicodePattern } from './unicode.ts';

const ignored = unicodePattern(String.raw`\p{Default_Ignorable_Code_Point}`, 'gu');

/** Unifies paths that some disk treats as equal: letter case, Unicode forms and ignored characters. */
export function foldPath(path: string): string {
  // Most paths: each of these steps leaves plain ASCII alone, but for its case.
  if (/^[ -~]*$/.test(path)) return path.toLowerCase();
  return path.normalize('NFKC').replace(ignored(), '').toUpperCase().toLowerCase();
}

/** `foldPath`, also without NTFS streams (`name::$DATA`) and the trailing dots and spaces that Windows drops. */
export function foldKey(key: string): string {
  return foldPath(key.normalize('NFKC').replace(/:[^/]*/gu, '')).replace(/[. ]+(?=\/|$)/gu, '');
}
