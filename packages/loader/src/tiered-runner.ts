import { type Isolation, isolations } from './check-extended.ts';
import { createInProcessRunner } from './in-process-runner.ts';
import type { PinnedTool } from './pinned-tool.ts';
import { createProgramRunner, isProgramForm } from './program-runner.ts';
import { createSandboxRunner, type SandboxRunnerOptions } from './sandbox-runner.ts';
import { createSubprocessRunner } from './subprocess-runner.ts';
import type { ToolRunner } from './tool-runner.ts';
import { createWorkerRunner } from './worker-runner.ts';

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
export function createTieredRunner(weakest: Isolation, options: SandboxRunnerOptions): ToolRunner {
  const runners = new Map<string, ToolRunner>();
  const runnerOf = ({ metadata }: PinnedTool): ToolRunner => {
    const tier = stricter(weakest, metadata.isolation ?? weakest);
    const sandboxed = tier === 'sandbox';
    const isProgram = isProgramForm(metadata.form);
    const key = isProgram ? `program ${sandboxed}` : tier;
    const runner =
      runners.get(key) ?? (isProgram ? createProgramRunner(options, { sandboxed }) : create[tier](options));
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
