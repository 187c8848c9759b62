/** The benchmarks, in the order in which they run. */
export const names: readonly string[] = [
  'call-path',
  'stores',
  'loader',
  'render',
  'policies',
  'orchestrator',
  'modules',
  'facts',
  'local',
  'import',
  'size',
  'install',
];

/** The parts of `call-path`, in the order in which they run. */
export const parts = ['goals', 'one-call', 'turn', 'loop', 'state-size', 'peers', 'memory'] as const;

export type Part = (typeof parts)[number];

export type BenchRequest = { readonly names: readonly string[]; readonly json: boolean } | { readonly problem: string };

/** Reads `[NAME ...] [--json]`; without a name all of them run. */
export function parseArguments(given: readonly string[]): BenchRequest {
  const chosen = given.filter((word) => word !== '--json');
  const known = [...names, ...parts.map((part) => `call-path/${part}`)];
  const unknown = chosen.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    return {
      problem: [
        `There is no benchmark \`${unknown}\`. Usage: npm run bench -- [NAME ...] [--json]`,
        `NAME: ${known.join(', ')}`,
      ].join('\n'),
    };
  }
  return { names: chosen.length > 0 ? [...new Set(chosen)] : names, json: given.includes('--json') };
}
