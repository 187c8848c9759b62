import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Extent, everything, toSpread } from '../compare.ts';
import type { Figure, FigureReport } from '../report.ts';

const kinds: readonly { readonly kind: string; readonly name: string; readonly goals: Partial<Goals> }[] = [
  { kind: 'floor', name: 'governed floor', goals: {} },
  { kind: 'plain', name: 'without a prompt', goals: { firstMs: 5, turnUs: 20 } },
  { kind: 'prompt', name: 'with a prompt', goals: { firstMs: 5, turnUs: 20 } },
];

interface Goals {
  readonly firstMs: number;
  readonly turnUs: number;
}

/** Measures the first runs of a fresh process without warm-up: CPU time of all threads. */
export async function measureCold(extent: Extent = everything): Promise<FigureReport> {
  const samples = new Map(kinds.map(({ kind }) => [kind, [] as Sample[]]));
  for (let round = 0; round < Math.min(15, extent.rounds); round += 1)
    for (const { kind } of kinds) samples.get(kind)?.push(startCold(kind));
  const figures = kinds.flatMap(({ kind, name, goals }) => {
    const taken = samples.get(kind) ?? [];
    return [
      figureOf(
        `first run after import, ${name}`,
        taken.map(({ first }) => first / 1e6),
        'ms',
        goals.firstMs,
      ),
      figureOf(
        `100 turns after it, each, ${name}`,
        taken.map(({ hundred }) => hundred / 1e5),
        'us',
        goals.turnUs,
      ),
    ];
  });
  return { name: 'call-path: cold, CPU time in fresh processes', figures };
}

interface Sample {
  readonly first: number;
  readonly hundred: number;
}

function startCold(kind: string): Sample {
  const program = fileURLToPath(new URL('cold-process.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, program, kind], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the process that measures \`${kind}\` ended with ${status}: ${stderr}`);
  // Our own program: it prints one sample.
  return JSON.parse(stdout) as Sample;
}

function figureOf(name: string, values: readonly number[], unit: string, goal: number | undefined): Figure {
  const { median, min, max } = toSpread(values);
  const round = (value: number): number => Number(value.toPrecision(3));
  return {
    name,
    value: round(median),
    min: round(min),
    max: round(max),
    unit,
    ...(goal === undefined ? {} : { goal }),
  };
}
