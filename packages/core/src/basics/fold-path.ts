import { unicodePattern } from './unicode.ts';

const ignored = unicodePattern(String.raw`\p{Default_Ignorable_Code_Point}`, 'gu');

/** Brings together what some disk takes for the same path: letter case, Unicode forms and characters that are ignored. */
export function foldPath(path: string): string {
  return path.normalize('NFKC').replace(ignored(), '').toUpperCase().toLowerCase();
}

/** As `foldPath`, also without the streams of NTFS (`name::$DATA`), and the dots and spaces at the end that Windows drops. */
export function foldKey(key: string): string {
  return foldPath(key.normalize('NFKC').replace(/:[^/]*/gu, '')).replace(/[. ]+(?=\/|$)/gu, '');
}
