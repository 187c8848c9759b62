import type { Clock, Json, ToolContext } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';
import { beginWith } from './begin-with.ts';
import type { VerifiedTool } from './call-message.ts';
import type { GrantedEnvironment } from './environment.ts';
import { calledTooLate } from './failures.ts';
import { RemoteTool } from './remote-tool.ts';
import type { LaunchChild, ToolRunner } from './types.ts';

/** What the runners of tools outside of this process take. */
export interface RemoteRunnerOptions {
  /**
   * Asked before each process is started: the SHA-256 of the file to import in hexadecimal, by which the process knows it. Rejects when
   * the tool is not what was pinned.
   */
  verify(tool: PinnedTool): Promise<string>;
  /** What a tool sees of the environment beside `PATH`, `LANG`, `TZ` and `TMPDIR`. Default: nothing. */
  environment?(tool: PinnedTool): GrantedEnvironment;
  /**
   * Memory of the heap of one process in MiB, default 256. On Linux all of its memory is limited to 768 MiB more, and for `external` tools
   * to another 2,304 MiB, which is what four threads of theirs reserve; a program that they start has that for itself again.
   */
  readonly memoryMb?: number;
  /** What a tool prints, in parts, cut at 64 KiB a call. Default: nobody is told. */
  readonly print?: (text: string, tool: PinnedTool) => void;
  /** Calls after which a process is replaced, default 10,000. */
  readonly callsPerProcess?: number;
  /** Processes that are kept for a next call while none is under way in them, default 4. */
  readonly idleProcesses?: number;
  /** How long one is kept, default 60,000. */
  readonly idleMs?: number;
  /** A call whose process is not heard of for that long, as in an endless loop, is ended within twice that time. Default 30,000. */
  readonly unresponsiveMs?: number;
  readonly clock?: Clock;
}

/** Timers that keep no process alive: what waits for a tool is kept alive by the tool's process. */
export const backgroundClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, 2_147_483_647)).unref();
    return () => clearTimeout(timer);
  },
};

// A process says within milliseconds whether it is idle. A next call waits for that no longer than another process takes to start.
const settleMs = 1_000;

/**
 * Runs tools in processes (or threads) of their own. A process serves one tool, as it was pinned, one call at a time, and never
 * another tool. It is kept for the next call of the same tool unless something went wrong with it, the call left something running
 * (a timer, a connection), or it has served long enough; so a tool sees what its own earlier calls left in its globals.
 */
export function createToolPool(launch: LaunchChild, options: RemoteRunnerOptions): ToolRunner {
  return new ToolPool(launch, options);
}

class ToolPool implements ToolRunner {
  readonly #launch: LaunchChild;
  readonly #options: RemoteRunnerOptions;
  readonly #clock: Clock;
  readonly #live = new Set<RemoteTool>();
  /** Free ones, longest idle first, each with what cancels its end. */
  readonly #idle = new Map<RemoteTool, () => void>();
  /** Versions whose processes are not kept. */
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
    // It soon knows whether it can go on.
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
