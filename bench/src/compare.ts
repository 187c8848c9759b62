/** One way of doing the work that is compared. */
export interface Subject {
  readonly name: string;
  /** Operations in one sample; what is reported is the time of one. */
  readonly operations: number;
  /** Name of the subject that this one is a ratio of. Default: the first. */
  readonly against?: string;
  /** The largest ratio that the design allows. */
  readonly goal?: number;
  /** The most nanoseconds over the other subject that the design allows. */
  readonly goalOverNs?: number;
  /** Makes fresh state, untimed, and gives the work of one sample, which is timed. */
  prepare(): () => unknown;
}

/** Of the samples of all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Row {
  readonly name: string;
  readonly nsPerOperation: Spread;
  /** Taken within each round, so that what slows a whole round down does not count. */
  readonly ratio?: Spread & { readonly against: string };
  readonly goal?: number;
  /** Nanoseconds over the other subject, within each round; given where there is a goal for them. */
  readonly overNs?: Spread & { readonly goal: number };
}

export interface CompareOptions {
  /** Rounds that count, at least 1. */
  readonly rounds: number;
  /** Rounds before them, for the compiler to settle. */
  readonly warmUpRounds: number;
  /** Nanoseconds from any start. */
  readonly now: () => number;
}

/** Times all subjects in every round, each round starting with another one, and gives a row for each. */
export async function compare(
  subjects: readonly Subject[],
  { rounds, warmUpRounds, now }: CompareOptions,
): Promise<readonly Row[]> {
  const samples = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const start = (round + warmUpRounds) % subjects.length;
    for (const subject of [...subjects.slice(start), ...subjects.slice(0, start)]) {
      const work = subject.prepare();
      const before = now();
      await work();
      const elapsed = now() - before;
      if (round >= 0) samples.get(subject.name)?.push(elapsed / subject.operations);
    }
  }
  return subjects.map((subject, index) => toRow(subject, index === 0 ? undefined : subjects[0]?.name, samples));
}

function toRow(subject: Subject, floor: string | undefined, samples: ReadonlyMap<string, readonly number[]>): Row {
  const { name, goal, against = floor } = subject;
  const own = samples.get(name) ?? [];
  const other = against === undefined ? undefined : samples.get(against);
  if (against !== undefined && other === undefined)
    throw new Error(`\`${name}\` is compared with unknown \`${against}\``);
  const { goalOverNs } = subject;
  return {
    name,
    nsPerOperation: toSpread(own),
    ...(against === undefined || other === undefined
      ? {}
      : { ratio: { ...toSpread(own.map((sample, round) => sample / (other[round] ?? Number.NaN))), against } }),
    ...(goal === undefined ? {} : { goal }),
    ...(goalOverNs === undefined || other === undefined
      ? {}
      : {
          overNs: { ...toSpread(own.map((sample, round) => sample - (other[round] ?? Number.NaN))), goal: goalOverNs },
        }),
  };
}

/** The median of an even number of samples is the mean of the two in the middle. */
export function toSpread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  return {
    median: middle.reduce((sum, sample) => sum + sample, 0) / middle.length,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}
