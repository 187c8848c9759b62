/** The benchmarks, in the order in which they run. */
export const names: readonly string[] = ['call', 'loop', 'import', 'size', 'install'];

export type BenchRequest = { readonly names: readonly string[]; readonly json: boolean } | { readonly problem: string };

/** Reads `[NAME ...] [--json]`; without a name all of them run. */
export function parseArguments(given: readonly string[]): BenchRequest {
  const chosen = given.filter((word) => word !== '--json');
  const unknown = chosen.find((word) => !names.includes(word));
  if (unknown !== undefined) {
    return {
      problem: `There is no benchmark \`${unknown}\`. Usage: npm run bench -- [${names.join('|')} ...] [--json]`,
    };
  }
  return { names: chosen.length > 0 ? [...new Set(chosen)] : names, json: given.includes('--json') };
}
