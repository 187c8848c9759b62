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

/** What tools of a folder run in where nobody says otherwise: a folder is not trusted because it is there. */
export const defaultIsolation: Isolation = 'subprocess';

/** Something a tool may do to its host, on purpose or not. */
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

/** In the words of `holdfast doctor`, after "a tool that". */
export const harms: Readonly<Record<Harm, string>> = {
  exit: 'ends its process',
  loop: 'loops for ever',
  heap: 'fills its heap',
  globals: 'changes globals',
  silence: 'never answers',
  environment: 'looks for secrets in `process.env`',
  block: 'blocks outside of JavaScript',
  crash: 'crashes',
  memory: 'fills the memory outside of its heap',
  children: 'leaves programs running',
  detached: 'leaves programs running in a process group of their own',
  bomb: 'starts programs without end',
  network: 'uses the network',
  files: 'writes files itself',
  signals: 'starts a program that signals others',
  neighbours: 'reads what the system tells of other processes, their environment too',
  escape: 'starts a program that hides from its host',
};

const threadStops: readonly Harm[] = ['exit', 'loop', 'heap', 'globals', 'silence', 'environment'];
const processStops: readonly Harm[] = [...threadStops, 'block', 'crash', 'memory', 'children', 'detached', 'bomb'];

/** What each tier keeps from doing harm to more than the call, on Linux for another user than root. Held to by tests. */
export const stoppedHarms: Readonly<Record<Isolation, readonly Harm[]>> = {
  'in-process': [],
  worker: threadStops,
  subprocess: processStops,
  sandbox: [...processStops, 'network', 'files', 'signals', 'neighbours', 'escape'],
};

/** A tier as it is on this machine. */
export interface TierState {
  readonly tier: Isolation;
  readonly available: boolean;
  /** Why it is not available; `''` when it is. */
  readonly reason: string;
  /** What a tool may do and only its own call suffers from, in words. */
  readonly stops: readonly string[];
  /** What it stops on Linux, for another user than root, and not here. */
  readonly notHere: readonly string[];
}

/** What each isolation tier is worth on this machine. `path`: where `bwrap` is looked for, default `PATH`. */
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
  // Root may have as many processes as the system can.
  return harm !== 'bomb' || process.getuid?.() !== 0;
}

const create: Readonly<Record<Isolation, (options: SandboxRunnerOptions) => ToolRunner>> = {
  'in-process': createInProcessRunner,
  worker: createWorkerRunner,
  subprocess: createSubprocessRunner,
  sandbox: createSandboxRunner,
};

/**
 * Runs each tool in the tier that its file asks for, and in none that is weaker than `weakest`. What is no JavaScript runs in a process
 * in every tier, and in the sandbox in that one.
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
