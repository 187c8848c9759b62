import type { Clock, Json, ToolContext } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';
import { beginWith } from './begin-with.ts';
import type { VerifiedTool } from './call-message.ts';
import type { GrantedEnvironment } from './environment.ts';
import { calledTooLate } from './failures.ts';
import { RemoteTool } from './remote-tool.ts';
import type { LaunchChild, ToolRunner } from './types.ts';

/** Options of the runners for tools outside this process. */
export interface RemoteRunnerOptions {
  /**
   * Called before each process starts. Returns the SHA-256 of the file to import, in hexadecimal, which the process
   * verifies. Rejects if the tool differs from the pinned one.
   */
  verify(tool: PinnedTool): Promise<string>;
  /** The tool's environment variables in addition to `PATH`, `LANG`, `TZ` and `TMPDIR`. Default: none. */
  environment?(tool: PinnedTool): GrantedEnvironment;
  /**
   * Heap limit of one process in MiB, default 256. On Linux, the total memory limit is 768 MiB higher, and for `external` tools another
   * 2,304 MiB, which four of their threads reserve. A program that they start has its own limit.
   */
  readonly memoryMb?: number;
  /** Receives a tool's printed text in parts, cut at 64 KiB per call. Default: ignored. */
  readonly print?: (text: string, tool: PinnedTool) => void;
  /** Calls after which a process is replaced, default 10,000. */
  readonly callsPerProcess?: number;
  /** Maximum number of idle processes kept for the next calls, default 4. */
  readonly idleProcesses?: number;
  /** How long an idle process is kept, default 60,000. */
  readonly idleMs?: number;
  /**
   * A call whose process shows no sign of life for that long, such as in an endless loop, is ended within twice that
   * time. Default 30,000.
   */
  readonly unresponsiveMs?: number;
  readonly clock?: Clock;
}

/** Timers that do not keep this process alive; the tool's process does. */
export const backgroundClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, 2_147_483_647)).unref();
    return () => clearTimeout(timer);
  },
};

// A process reports within milliseconds whether it is idle. A next call waits no longer than a new process takes to start.
const settleMs = 1_000;

/**
 * Runs tools in their own processes (or threads). A process serves one version of one tool, one call at a time. It is
 * reused for the tool's next call unless an error occurred, the call left something running (a timer, a connection), or
 * it reached its call limit; so a tool sees changes of its own earlier calls to its globals.
 */
export function createToolPool(launch: LaunchChild, options: RemoteRunnerOptions): ToolRunner {
  return new ToolPool(launch, options);
}

class ToolPool implements ToolRunner {
  readonly #launch: LaunchChild;
  readonly #options: RemoteRunnerOptions;
  readonly #clock: Clock;
  readonly #live = new Set<RemoteTool>();
  /** Idle processes, longest idle first, each with a function that cancels its end. */
  readonly #idle = new Map<RemoteTool, () => void>();
  /** Versions whose processes are not reused. */
  readonly #retired = new WeakSet<PinnedTool>();
  #closed = false;

  constructor(launch: LaunchChild, options: RemoteRunnerOptions) {
    this.#launch = launch;
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
  }

  async run(tool: PinnedTool, input: Json, context: ToolContext): Promise<unknown> {
    context.signal.throwIfAborted();
    const remote = await beginWith(this.#take(tool), context, (unused) => unused.release());
    return await remote.run(input, context);
  }

  retire(tool: PinnedTool): boolean {
    this.#retired.add(tool);
    for (const remote of [...this.#idle.keys()]) if (remote.tool === tool) remote.close();
    return false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const live = [...this.#live];
    for (const remote of live) remote.close();
    await Promise.all(live.map(({ ended }) => ended));
  }

  /** A process for a call of the tool: an idle one, or a new one. */
  async #take(tool: PinnedTool): Promise<RemoteTool> {
    // It will soon be idle or ended.
    await this.#findSettling(tool)?.settled();
    const idle = this.#takeIdle(tool);
    if (idle !== undefined) return idle;
    const sha256 = await this.#options.verify(tool);
    if (this.#closed) throw calledTooLate(tool.metadata);
    const remote = this.#start({ tool, sha256 });
    await remote.settled();
    if (remote.failure !== undefined) throw remote.failure.reason;
    return remote;
  }

  #takeIdle(tool: PinnedTool): RemoteTool | undefined {
    for (const [remote, cancel] of this.#idle) {
      if (!isSame(remote.tool, tool) || remote.failure !== undefined) continue;
      cancel();
      this.#idle.delete(remote);
      return remote;
    }
    return undefined;
  }

  #findSettling(tool: PinnedTool): RemoteTool | undefined {
    return [...this.#live].find((remote) => remote.state === 'settling' && isSame(remote.tool, tool));
  }

  #start(tool: VerifiedTool): RemoteTool {
    const { unresponsiveMs = 30_000, print = () => undefined } = this.#options;
    const remote = new RemoteTool(tool, this.#launch, {
      clock: this.#clock,
      unresponsiveMs,
      print,
      changed: (changed) => this.#note(changed),
    });
    this.#live.add(remote);
    void remote.ended.then(() => this.#live.delete(remote));
    return remote;
  }

  #note(remote: RemoteTool): void {
    const { callsPerProcess = 10_000, idleProcesses = 4, idleMs = 60_000 } = this.#options;
    this.#idle.get(remote)?.();
    this.#idle.delete(remote);
    if (remote.state === 'settling') {
      this.#clock.after(settleMs, () => {
        if (remote.state === 'settling') remote.close();
      });
    }
    if (remote.state !== 'free') return;
    if (this.#closed || this.#retired.has(remote.tool) || remote.calls >= callsPerProcess) {
      remote.close();
      return;
    }
    this.#idle.set(
      remote,
      this.#clock.after(idleMs, () => remote.close()),
    );
    if (this.#idle.size > idleProcesses) this.#idle.keys().next().value?.close();
  }
}

function isSame(left: PinnedTool, right: PinnedTool): boolean {
  return left.digest === right.digest && left.entry === right.entry && left.metadata.name === right.metadata.name;
}
