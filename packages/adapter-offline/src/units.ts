import { stemOf } from './words.ts';

const secondsByUnit: ReadonlyMap<string, number> = new Map(
  (
    [
      [0.001, 'milliseconds ms'],
      [1, 'seconds sec s'],
      [60, 'minutes min'],
      [3600, 'hours hr h'],
      [86_400, 'days'],
      [604_800, 'weeks'],
    ] as const
  ).flatMap(([seconds, names]) => names.split(' ').map((name) => [stemOf(name), seconds] as const)),
);

/** The seconds of the first unit of time among `stems`, or `undefined`. */
export function timeUnitOf(stems: readonly string[]): number | undefined {
  const unit = stems.find((stem) => secondsByUnit.has(stem));
  return unit === undefined ? undefined : secondsByUnit.get(unit);
}

/** `value` of `unit` in the unit of `wanted` seconds; unchanged when either is no unit of time. */
export function convertTime(value: number, unit: string | undefined, wanted: number | undefined): number {
  const seconds = unit === undefined ? undefined : secondsByUnit.get(stemOf(unit));
  if (seconds === undefined || wanted === undefined || seconds === wanted) return value;
  return Number(((value * seconds) / wanted).toPrecision(12));
}
