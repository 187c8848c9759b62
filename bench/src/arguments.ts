/** The parts of `call-path`, in the order in which they run: the one that may fail to install something is first. */
export const parts = ['peers', 'goals', 'cold', 'loop', 'state-size', 'memory'] as const;

export type Part = (typeof parts)[number];

const callPath = parts.map((part) => `call-path/${part}`);

/** The benchmarks, in the order in which they run. Each has a process of its own. */
export const names: readonly string[] = [
  ...callPath,
  'stores',
  'durable',
  'loader',
  'render',
  'policies',
  'orchestrator',
  'modules',
  'facts',
  'frameworks',
  'guard',
  'mcp',
  'otel',
  'studio',
  'agentdojo',
  'local',
  'import',
  'size',
  'install',
];

/** Aliases. */
const groups: ReadonlyMap<string, readonly string[]> = new Map([
  ['call-path', callPath],
  ['peers', ['call-path/peers']],
]);

export type BenchRequest =
  | {
      readonly names: readonly string[];
      readonly json: boolean;
      /** More rounds, where that takes minutes. */
      readonly full: boolean;
    }
  | { readonly problem: string };

const flags = ['--json', '--full'];

/** Reads `[NAME ...] [--json] [--full]`; without a name all of them run. */
export function parseArguments(given: readonly string[]): BenchRequest {
  const chosen = given.filter((word) => !flags.includes(word));
  const known = [...groups.keys(), ...names];
  const unknown = chosen.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    return {
      problem: [
        `There is no benchmark \`${unknown}\`. Usage: npm run bench -- [NAME ...] [--json] [--full]`,
        `NAME: ${known.join(', ')}`,
      ].join('\n'),
    };
  }
  const wanted = new Set(chosen.flatMap((name) => groups.get(name) ?? [name]));
  const [json, full] = flags.map((flag) => given.includes(flag));
  return { names: wanted.size > 0 ? [...wanted] : names, json: json === true, full: full === true };
}
