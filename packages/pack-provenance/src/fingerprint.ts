import { sha256 } from '@holdfast/core/internal';

/** Converts the form of a value to the text that the state keeps. */
export type Fingerprint = (form: string) => string;

/** Shorter values could be guessed from a fingerprint, and equal others by chance. */
const leastChars = 6;

/** Short values are kept as they are, and never decide alone. */
export function isShort(form: string): boolean {
  return form.length - form.indexOf(':') - 1 < leastChars;
}

/** `key`: without it, who reads the log can test a guess. */
export function createFingerprint(key = ''): Fingerprint {
  return (form) => (isShort(form) ? form.replaceAll(/\s/gu, '_') : sha256(`${key}\n${form}`).slice(0, 16));
}
