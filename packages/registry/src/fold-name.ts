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
