import type { RunEvent } from '@holdfast/core';
import { formatArguments } from './call-line.ts';

/** A call that has not ended yet. */
export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  /** On one line, and no longer than a line can be. */
  readonly arguments: string;
  readonly state: 'waiting' | 'asking' | 'running';
  /** Of a running call. */
  readonly startedAtMs: number | undefined;
  /** The last word of the tool on how far it is. */
  readonly progress: string;
}

/** Follows the calls of a run from the model's message to their end. */
export interface OpenCalls {
  apply(event: RunEvent): void;
  /** In the order in which the model asked for them. */
  list(): readonly OpenCall[];
}

export function createOpenCalls(): OpenCalls {
  const calls = new Map<string, OpenCall>();
  const change = (callId: string, changes: Partial<OpenCall>): void => {
    const call = calls.get(callId);
    if (call !== undefined) calls.set(callId, { ...call, ...changes });
  };
  return {
    apply(event) {
      switch (event.type) {
        case 'model-message':
          for (const { id, name, arguments: given } of event.calls) calls.set(id, waiting(id, name, given));
          break;
        case 'approval-request':
          change(event.pending.callId, { state: 'asking' });
          break;
        case 'approval-answer':
          change(event.callId, { state: 'waiting' });
          break;
        case 'tool-call-start': {
          const { callId, name, rawArguments, atMs } = event;
          if (!calls.has(callId)) calls.set(callId, waiting(callId, name, rawArguments));
          change(callId, { state: 'running', startedAtMs: atMs });
          break;
        }
        case 'tool-call-progress':
          change(event.callId, { progress: event.message });
          break;
        case 'tool-call-end':
          calls.delete(event.callId);
          break;
        case 'run-end':
          calls.clear();
          break;
        default:
          break;
      }
    },
    list: () => [...calls.values()],
  };
}

function waiting(callId: string, name: string, given: unknown): OpenCall {
  // Once and not at every frame: arguments may be a whole file.
  return { callId, name, arguments: formatArguments(given), state: 'waiting', startedAtMs: undefined, progress: '' };
}
