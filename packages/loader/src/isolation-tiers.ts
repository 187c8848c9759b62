import { findSandbox } from './bubblewrap.ts';
import type { Isolation } from './check-extended.ts';

/** What tools of a folder run in where nobody says otherwise: a folder is not trusted because it is there. */
export const defaultIsolation: Isolation = 'subprocess';

/** Something a tool may do to its host, on purpose or not. */
export type Harm =
  | 'exit'
  | 'loop'
  | 'memory'
  | 'globals'
  | 'silence'
  | 'environment'
  | 'block'
  | 'crash'
  | 'children'
  | 'network'
  | 'files'
  | 'escape';

/** In the words of `holdfast doctor`, after "a tool that". */
export const harms: Readonly<Record<Harm, string>> = {
  exit: 'ends its process',
  loop: 'loops for ever',
  memory: 'fills the memory',
  globals: 'changes globals',
  silence: 'never answers',
  environment: 'reads secrets from the environment',
  block: 'blocks outside of JavaScript',
  crash: 'crashes',
  children: 'leaves programs running',
  network: 'uses the network',
  files: 'writes files itself',
  escape: 'starts a program that leaves its process group',
};

const threadStops: readonly Harm[] = ['exit', 'loop', 'memory', 'globals', 'silence', 'environment'];
const processStops: readonly Harm[] = [...threadStops, 'block', 'crash', 'children'];

/** What each tier keeps from doing harm to more than the call. Held to by tests. */
export const stoppedHarms: Readonly<Record<Isolation, readonly Harm[]>> = {
  'in-process': [],
  worker: threadStops,
  subprocess: processStops,
  sandbox: [...processStops, 'network', 'files', 'escape'],
};

/** A tier as it is on this machine. */
export interface TierState {
  readonly tier: Isolation;
  readonly available: boolean;
  /** Why it is not available; `''` when it is. */
  readonly reason: string;
  /** What a tool may do and only its own call suffers from, in words. */
  readonly stops: readonly string[];
}

/** What each isolation tier is worth on this machine. `path`: where `bwrap` is looked for, default `PATH`. */
export async function describeIsolation(path?: string): Promise<readonly TierState[]> {
  const sandbox = await findSandbox(path);
  const describe = (tier: Isolation, reason: string): TierState => ({
    tier,
    available: reason === '',
    reason,
    stops: stoppedHarms[tier].map((harm) => harms[harm]),
  });
  return [
    describe('in-process', ''),
    describe('worker', ''),
    describe('subprocess', ''),
    describe('sandbox', sandbox.available ? '' : sandbox.reason),
  ];
}
