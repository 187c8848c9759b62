/** A comparison with another subject, and the limits that the design sets. */
export interface Against {
  readonly name: string;
  /** The largest ratio. */
  readonly goal?: number;
  /** The largest difference in nanoseconds. */
  readonly goalOverNs?: number;
}

/** One way of doing the work that is compared. */
export interface Subject {
  readonly name: string;
  /** Operations in one sample; the report has the time of one. */
  readonly operations: number;
  /** The most nanoseconds that the design allows for one operation. */
  readonly goalNs?: number;
  readonly against?: readonly Against[];
  /** Prepares fresh state, untimed, and returns the timed work of one sample. */
  prepare(): () => unknown;
}

/** Of the samples of all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Computed within each round, so that a slow round does not count. */
export interface Ratio extends Spread {
  readonly against: string;
  readonly goal?: number;
  /** Nanoseconds over the other subject; given where there is a goal for them. */
  readonly overNs?: Spread & { readonly goal: number };
}

export interface Row {
  readonly name: string;
  readonly rounds: number;
  readonly nsPerOperation: Spread;
  readonly goalNs?: number;
  readonly ratios: readonly Ratio[];
}

export interface CompareOptions {
  /** Measured rounds, at least 1. */
  readonly rounds: number;
  /** Rounds before them, for the compiler to settle. */
  readonly warmUpRounds: number;
  /** Nanoseconds from any start. Default: the machine's. */
  readonly now?: () => number;
}

/** The size of a run: all of a benchmark, or a smoke test. */
export interface Extent {
  /** Larger sizes are left out. */
  readonly largest: number;
  /** At most so many rounds, and as many to warm up. */
  readonly rounds: number;
}

export const everything: Extent = { largest: Number.POSITIVE_INFINITY, rounds: Number.POSITIVE_INFINITY };

export function limitRounds({ rounds, warmUpRounds }: CompareOptions, extent: Extent): CompareOptions {
  return { rounds: Math.min(rounds, extent.rounds), warmUpRounds: Math.min(warmUpRounds, extent.rounds) };
}

/** Times all subjects in every round, in a new order each time, and returns a row for each. */
export async function compare(
  subjects: readonly Subject[],
  { rounds, warmUpRounds, now = machineNow }: CompareOptions,
): Promise<readonly Row[]> {
  const samples = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  const random = createRandom();
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const subject of shuffle(subjects, random)) {
      const work = subject.prepare();
      const before = now();
      await work();
      const elapsed = now() - before;
      if (round >= 0) samples.get(subject.name)?.push(elapsed / subject.operations);
    }
  }
  return subjects.map(({ name, goalNs, against = [] }) => {
    const own = samples.get(name) ?? [];
    const ratios = against.map((other) => toRatio(own, other, samples.get(other.name)));
    return { name, rounds, nsPerOperation: toSpread(own), ...(goalNs === undefined ? {} : { goalNs }), ratios };
  });
}

/** Garbage of one subject slows down the next one, so the order varies. */
function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** From 0 to 1, the same in every run. Source: the generator "mulberry32" of T. Ettinger, 2017. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Nanoseconds of CPU time of this process, all threads of it. */
export function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e3;
}

function machineNow(): number {
  return Number(process.hrtime.bigint());
}

function toRatio(
  own: readonly number[],
  { name, goal, goalOverNs }: Against,
  other: readonly number[] | undefined,
): Ratio {
  if (other === undefined) throw new Error(`a subject is compared with unknown \`${name}\``);
  const perRound = (combine: (sample: number, others: number) => number): Spread =>
    toSpread(own.map((sample, round) => combine(sample, other[round] ?? Number.NaN)));
  return {
    against: name,
    ...perRound((sample, others) => sample / others),
    ...(goal === undefined ? {} : { goal }),
    ...(goalOverNs === undefined
      ? {}
      : { overNs: { ...perRound((sample, others) => sample - others), goal: goalOverNs } }),
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
