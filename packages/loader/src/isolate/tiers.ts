import { isolations } from '../check/keys.ts';
import type { Isolation } from '../check/types.ts';
import { kindOf } from '../language/find.ts';
import type { Language, PinnedTool } from '../language/types.ts';
import { findSandbox } from './bubblewrap.ts';
import { createInProcessRunner } from './in-process.ts';
import { createProgramRunner } from './program.ts';
import { createSandboxRunner, createSubprocessRunner, type SandboxRunnerOptions } from './subprocess.ts';
import type { ToolRunner } from './types.ts';
import { createWorkerRunner } from './worker.ts';

/** The default isolation for tools of a folder, which is not trusted. */
export const defaultIsolation: Isolation = 'subprocess';

/** A way in which a tool may harm its host, intentionally or not. */
export type Harm =
  | 'exit'
  | 'loop'
  | 'heap'
  | 'globals'
  | 'silence'
  | 'environment'
  | 'block'
  | 'crash'
  | 'memory'
  | 'children'
  | 'detached'
  | 'bomb'
  | 'network'
  | 'files'
  | 'signals'
  | 'neighbours'
  | 'escape';

/** The wording of `holdfast doctor`, after "a tool that". */
export const harms: Readonly<Record<Harm, string>> = {
  exit: 'ends its process',
  loop: 'loops forever',
  heap: 'fills its heap',
  globals: 'changes globals',
  silence: 'never answers',
  environment: 'looks for secrets in `process.env`',
  block: 'blocks outside JavaScript',
  crash: 'crashes',
  memory: 'fills memory outside its heap',
  children: 'leaves programs running',
  detached: 'leaves programs running in a process group of their own',
  bomb: 'starts an endless number of programs',
  network: 'uses the network',
  files: 'writes files itself',
  signals: 'starts a program that signals others',
  neighbours: "reads the system's data about other processes, including their environment",
  escape: 'starts a program that hides from its host',
};

const threadStops: readonly Harm[] = ['exit', 'loop', 'heap', 'globals', 'silence', 'environment'];
const processStops: readonly Harm[] = [...threadStops, 'block', 'crash', 'memory', 'children', 'detached', 'bomb'];

/** The harms that each tier confines to the call, on Linux for a user other than root. Verified by tests. */
export const stoppedHarms: Readonly<Record<Isolation, readonly Harm[]>> = {
  'in-process': [],
  worker: threadStops,
  subprocess: processStops,
  sandbox: [...processStops, 'network', 'files', 'signals', 'neighbours', 'escape'],
};

/** The state of a tier on this machine. */
export interface TierState {
  readonly tier: Isolation;
  readonly available: boolean;
  /** The reason if not available, otherwise `''`. */
  readonly reason: string;
  /** Harms that only affect the tool's own call, in words. */
  readonly stops: readonly string[];
  /** Harms that it stops on Linux for a user other than root, but not here. */
  readonly notHere: readonly string[];
}

/** Describes the protection by each isolation tier on this machine. `path`: where `bwrap` is searched, default `PATH`. */
export async function describeIsolation(path?: string): Promise<readonly TierState[]> {
  const sandbox = await findSandbox(path);
  const inWords = (tier: Isolation, here: boolean): readonly string[] =>
    stoppedHarms[tier].filter((harm) => isStoppedHere(harm) === here).map((harm) => harms[harm]);
  const describe = (tier: Isolation, reason: string): TierState => ({
    tier,
    available: reason === '',
    reason,
    stops: inWords(tier, true),
    notHere: inWords(tier, false),
  });
  return [
    describe('in-process', ''),
    describe('worker', ''),
    describe('subprocess', ''),
    describe('sandbox', sandbox.available ? '' : sandbox.reason),
  ];
}

const onlyOnLinux: ReadonlySet<Harm> = new Set(['memory', 'detached', 'bomb']);

function isStoppedHere(harm: Harm): boolean {
  if (process.platform !== 'linux') return !onlyOnLinux.has(harm);
  // Root has no process limit.
  return harm !== 'bomb' || process.getuid?.() !== 0;
}

const create: Readonly<Record<Isolation, (options: SandboxRunnerOptions) => ToolRunner>> = {
  'in-process': createInProcessRunner,
  worker: createWorkerRunner,
  subprocess: createSubprocessRunner,
  sandbox: createSandboxRunner,
};

/**
 * Runs each tool in the tier that its file asks for, but never weaker than `weakest`. Languages other than JavaScript
 * run in a process in every tier, and sandboxed in the sandbox tier.
 */
export function createTieredRunner(
  weakest: Isolation,
  { languages, ...options }: SandboxRunnerOptions & { readonly languages?: readonly Language[] | undefined },
): ToolRunner {
  const runners = new Map<string, ToolRunner>();
  const runnerOf = ({ file, metadata }: PinnedTool): ToolRunner => {
    const kind = kindOf(file, languages);
    const tier = stricter(weakest, metadata.isolation ?? weakest);
    const sandboxed = tier === 'sandbox';
    const language = kind === 'module' ? undefined : kind;
    const key = language === undefined ? tier : `${language.name} ${sandboxed}`;
    const runner =
      runners.get(key) ??
      (language === undefined ? create[tier](options) : createProgramRunner(options, { language, sandboxed }));
    runners.set(key, runner);
    return runner;
  };
  return {
    run: (tool, input, context) => runnerOf(tool).run(tool, input, context),
    retire: (tool) => runnerOf(tool).retire?.(tool) ?? false,
    async close() {
      await Promise.all([...runners.values()].map((runner) => runner.close()));
    },
  };
}

function stricter(left: Isolation, right: Isolation): Isolation {
  return isolations.indexOf(left) < isolations.indexOf(right) ? right : left;
}
