import type { Clock, Json, ToolContext } from '@holdfast/core';
import { childLimits, type HostMessage } from '../child/call-messages.ts';
import { type ChildMessage, type Request, readChildMessage } from '../child/child-messages.ts';
import { encodeFrame, FrameError, FrameReader } from '../child/frames.ts';
import { Remarks } from '../child/remote-context.ts';
import type { PinnedTool } from '../language/types.ts';
import { toCallMessage, type VerifiedTool } from './call-message.ts';
import { describeEnd, processLost, processNotStarted, readAnswer } from './failures.ts';
import { answerRequest, RequestServer } from './request-server.ts';
import { PrintedText } from './run-program.ts';
import type { ChildEnd, LaunchChild, ToolChild } from './types.ts';

export interface RemoteToolOptions {
  readonly clock: Clock;
  /** A call whose process shows no sign of life for so long is ended. */
  readonly unresponsiveMs: number;
  /** Receives the tool's printed text in parts, cut at 64 KiB per call. */
  readonly print: (text: string, tool: PinnedTool) => void;
  /** Called when the process can take a call again, and when it has ended. */
  readonly changed: (remote: RemoteTool) => void;
}

/** `starting`: not ready for a call. `settling`: the call has ended, but its code may still run. */
export type RemoteState = 'starting' | 'free' | 'busy' | 'settling' | 'ended';

interface CurrentCall {
  readonly context: ToolContext;
  readonly requests: RequestServer;
  /** Pending requests. */
  readonly pending: Set<number>;
  pendingBytes: number;
  readonly remarks: Remarks;
  /** Ends the call; only the first time counts. */
  settle(end: { readonly value: unknown } | { readonly reason: unknown }): void;
}

// A genuine program never exceeds this.
const maxPending = 64;
// Bytes in transit in one direction; above, reading pauses.
const maxHeldBytes = 32 * 1024 * 1024;

/** One tool in its own process or thread, which runs one call at a time. */
export class RemoteTool {
  readonly tool: PinnedTool;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #sha256: string;
  readonly #options: RemoteToolOptions;
  readonly #child: ToolChild;
  readonly #reader: FrameReader = new FrameReader(childLimits);
  readonly #printed: PrintedText;
  #state: RemoteState = 'starting';
  #calls = 0;
  #current: CurrentCall | undefined;
  /** Set on kill, before the process has ended. */
  #failure: { readonly reason: unknown } | undefined;
  #heard = false;
  #cancelTimer: () => void = () => undefined;
  #settled: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor({ tool, sha256 }: VerifiedTool, launch: LaunchChild, options: RemoteToolOptions) {
    this.tool = tool;
    this.#sha256 = sha256;
    this.#options = options;
    this.#printed = new PrintedText((text) => options.print(text, tool));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#child = launch(tool, {
      received: (chunk) => this.#receive(chunk),
      printed: (chunk) => {
        if (!this.#printed.add(chunk)) this.#kill(processLost(this.tool, 'flood', 'printed too much text'));
      },
      drained: () => {
        this.#heard = true;
        this.#balance();
      },
      ended: (how) => {
        this.#end(how);
        resolve();
      },
    });
    this.#watch();
  }

  get state(): RemoteState {
    return this.#state;
  }

  /** Resolves when it is no longer starting or settling, and keeps the host alive until then. */
  settled(): Promise<void> {
    if (this.#state === 'settling') this.#child.hold(true);
    return this.#settled.promise;
  }

  /** Why it has ended, or is about to. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#failure;
  }

  /** Number of calls so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Returns it to the pool without a call. */
  release(): void {
    if (this.#state === 'free' && this.#failure === undefined) this.#become('free');
  }

  /** Requires the state `free`; the process may have ended since. */
  run(input: Json, context: ToolContext): Promise<unknown> {
    const { signal } = context;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (signal.aborted) {
      reject(signal.reason);
      this.release();
      return promise;
    }
    if (this.#failure !== undefined) {
      reject(processNotStarted(this.tool, 'ended before the call started'));
      return promise;
    }
    this.#calls += 1;
    this.#state = 'busy';
    const abort = (): void => this.#kill(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#current = {
      context,
      requests: new RequestServer(context),
      pending: new Set(),
      pendingBytes: 0,
      remarks: new Remarks(),
      settle: (end) => {
        signal.removeEventListener('abort', abort);
        this.#current = undefined;
        if ('reason' in end) reject(end.reason);
        else resolve(end.value);
      },
    };
    this.#printed.begin();
    this.#child.hold(true);
    this.#watch();
    this.#send(toCallMessage(this.#calls, { tool: this.tool, sha256: this.#sha256 }, input, context));
    return promise;
  }

  /** Ends the process and its running call. */
  close(): void {
    this.#kill(processLost(this.tool, 'closed', 'was ended by its host'));
  }

  #receive(chunk: Uint8Array): void {
    // Arrived after the process was killed.
    if (this.#failure !== undefined) return;
    this.#heard = true;
    try {
      for (const { json, body } of this.#reader.read(chunk)) {
        const message = readChildMessage(json);
        if (message === undefined) throw new FrameError('an unreadable message');
        this.#take(message, body);
        if (this.#failure !== undefined) return;
      }
      this.#balance();
    } catch (thrown) {
      if (!(thrown instanceof FrameError)) throw thrown;
      this.#kill(processLost(this.tool, 'protocol', `sent ${thrown.message}`));
    }
  }

  #take(message: ChildMessage, body: Uint8Array | undefined): void {
    const current = this.#current;
    if (message.type === 'pong') {
      if (current !== undefined) this.#remark(current);
      return;
    }
    if (message.type === 'ready') {
      if (this.#state !== 'starting') throw new FrameError('an unexpected message');
      this.#cancelTimer();
      // Only its starter is waiting for it.
      this.#state = 'free';
      this.#settled.resolve();
      return;
    }
    if (message.call !== this.#calls) throw new FrameError('a message for another call');
    if (message.type === 'idle' || message.type === 'restless') {
      if (this.#state !== 'settling') throw new FrameError('an unexpected message');
      if (message.type === 'idle') this.#become('free');
      else this.close();
      return;
    }
    if (current === undefined) throw new FrameError('an unexpected message');
    switch (message.type) {
      case 'request':
        this.#serve(current, message, body);
        return;
      case 'progress':
        this.#remark(current, message.message);
        return;
      case 'beat':
        this.#remark(current);
        return;
      default:
        current.settle(readAnswer(message, this.tool));
        this.#become(message.idle ? 'free' : 'settling');
    }
  }

  #remark({ remarks, context }: CurrentCall, progress?: string): void {
    if (!remarks.add(progress)) {
      this.#kill(processLost(this.tool, 'flood', 'sent too many messages'));
      return;
    }
    try {
      if (progress === undefined) context.beat();
      else context.progress(progress);
    } catch (thrown) {
      // A closed context means that the call has ended; any other error is the host's own.
      this.#kill(thrown);
    }
  }

  #serve(current: CurrentCall, request: Request, body: Uint8Array | undefined): void {
    const { pending, requests } = current;
    if (pending.size >= maxPending || pending.has(request.request)) throw new FrameError('too many requests at once');
    const bytes = body?.byteLength ?? 0;
    pending.add(request.request);
    current.pendingBytes += bytes;
    void answerRequest(requests, request, body).then((answer) => {
      pending.delete(request.request);
      current.pendingBytes -= bytes;
      // The call has ended meanwhile.
      if (this.#current !== current || this.#failure !== undefined) return;
      this.#send(answer.message, answer.body);
      this.#balance();
    });
  }

  /** Pauses and resumes reading depending on the bytes in transit. */
  #balance(): void {
    if (this.#state === 'ended') return;
    this.#child.take(!this.#isFull());
  }

  #isFull(): boolean {
    return (this.#current?.pendingBytes ?? 0) > maxHeldBytes || this.#child.backlogBytes() > maxHeldBytes;
  }

  #send(message: HostMessage, body?: Uint8Array): void {
    this.#child.send(encodeFrame(JSON.stringify(message), body));
  }

  /** Sends heartbeats; ends the call if the last one was not answered. */
  #watch(): void {
    const { clock, unresponsiveMs } = this.#options;
    this.#heard = true;
    const look = (): void => {
      const waitsForHost = (this.#current?.pendingBytes ?? 0) > maxHeldBytes;
      if (!this.#heard && !waitsForHost) {
        this.#kill(processLost(this.tool, 'unresponsive', `did not respond for ${unresponsiveMs} ms`));
        return;
      }
      this.#heard = false;
      this.#send({ type: 'ping' });
      this.#cancelTimer = clock.after(unresponsiveMs, look);
    };
    this.#cancelTimer = clock.after(unresponsiveMs, look);
  }

  #kill(reason: unknown): void {
    if (this.#state === 'ended' || this.#failure !== undefined) return;
    this.#failure = { reason };
    // Keeps the host alive until the end.
    this.#child.hold(true);
    this.#child.kill();
    if (!this.#child.killsAtOnce) return;
    this.#current?.settle({ reason });
    this.#become('ended');
  }

  #end(how: ChildEnd): void {
    this.#failure ??= { reason: describeEnd(this.tool, how) };
    this.#current?.settle(this.#failure);
    if (this.#state !== 'ended') this.#become('ended');
  }

  #become(state: RemoteState): void {
    this.#state = state;
    this.#cancelTimer();
    // The host does not wait for an idle process, but does wait for a killed one.
    if (state !== 'ended') this.#child.hold(false);
    if (state === 'settling') this.#settled = Promise.withResolvers();
    else this.#settled.resolve();
    this.#options.changed(this);
  }
}
