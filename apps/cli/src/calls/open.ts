import type { PlanEvent } from '@holdfast/orchestrator';
import { formatDuration } from '@holdfast/orchestrator/text';
import { childRunName, formatArguments } from './line.ts';
import { enterChild, type Place, toCallKey, toParentKey, toRunKey } from './nesting.ts';

/** A running or waiting call, or a run in a child session. */
export interface OpenCall {
  readonly name: string;
  /** On one line, cut to a maximum. */
  readonly arguments: string;
  readonly state: 'waiting' | 'asking' | 'running';
  /** For a running call. */
  readonly startedAtMs: number | undefined;
  /** The tool's latest progress message. */
  readonly progress: string;
  /** The tool's latest heartbeat, if it sends any. */
  readonly beatAtMs: number | undefined;
  /** Nesting depth. */
  readonly depth: number;
}

/** Follows the calls of a run from the model's message to their end. */
export interface OpenCalls {
  apply(event: PlanEvent): void;
  /** In the order in which the model asked for them, nested calls right after their parent. */
  list(): readonly OpenCall[];
}

interface Entry {
  readonly call: Omit<OpenCall, 'depth'>;
  readonly parent: string | undefined;
}

export function createOpenCalls(): OpenCalls {
  const entries = new Map<string, Entry>();
  const isOpen = (key: string): boolean => entries.has(key);
  const change = (key: string, changes: Partial<OpenCall>): void => {
    const entry = entries.get(key);
    if (entry !== undefined) entries.set(key, { ...entry, call: { ...entry.call, ...changes } });
  };
  const answer = (key: string): void => {
    // Questions about later calls are asked before those calls start.
    const started = entries.get(key)?.call.startedAtMs !== undefined;
    change(key, { state: started ? 'running' : 'waiting' });
  };
  const end = (key: string): void => {
    entries.delete(key);
    for (const [inner, { parent }] of entries) if (parent === key) end(inner);
  };
  const apply = (event: PlanEvent, place: Place | undefined): void => {
    switch (event.type) {
      case 'child-event':
        apply(event.event, enterChild(event.callId, event.sessionId, place));
        break;
      case 'run-start':
        if (place === undefined) break;
        entries.set(toRunKey(place), {
          call: { ...waiting(childRunName, event.input), state: 'running', startedAtMs: event.atMs },
          parent: place.around,
        });
        break;
      case 'model-message':
        for (const { id, name, arguments: given } of event.calls) {
          entries.set(toCallKey(id, place), { call: waiting(name, given), parent: toParentKey({}, place, isOpen) });
        }
        break;
      case 'approval-request':
        change(toCallKey(event.pending.callId, place), { state: 'asking' });
        break;
      case 'approval-answer':
        answer(toCallKey(event.callId, place));
        break;
      case 'tool-call-start': {
        const { callId, name, rawArguments, atMs } = event;
        const key = toCallKey(callId, place);
        if (!isOpen(key))
          entries.set(key, { call: waiting(name, rawArguments), parent: toParentKey(event, place, isOpen) });
        change(key, { state: 'running', startedAtMs: atMs });
        break;
      }
      case 'tool-call-progress':
        change(toCallKey(event.callId, place), { progress: event.message });
        break;
      case 'tool-call-retry': {
        const { attempt, delayMs } = event;
        change(toCallKey(event.callId, place), {
          progress: `attempt ${attempt} failed, next in ${formatDuration(delayMs)}`,
        });
        break;
      }
      case 'tool-call-beat':
        change(toCallKey(event.callId, place), { beatAtMs: event.atMs });
        break;
      case 'tool-call-end':
        end(toCallKey(event.callId, place));
        break;
      case 'run-end':
        if (place === undefined) entries.clear();
        else end(toRunKey(place));
        break;
      default:
        break;
    }
  };
  return {
    apply: (event) => apply(event, undefined),
    list() {
      const inside = Map.groupBy(entries, ([, { parent }]) =>
        parent !== undefined && isOpen(parent) ? parent : undefined,
      );
      const collect = (parent: string | undefined, depth: number): readonly OpenCall[] =>
        (inside.get(parent) ?? []).flatMap(([key, { call }]) => [{ ...call, depth }, ...collect(key, depth + 1)]);
      return collect(undefined, 0);
    },
  };
}

function waiting(name: string, given: unknown): Entry['call'] {
  // Formatted once, not on every frame: arguments may be a whole file.
  return {
    name,
    arguments: formatArguments(given),
    state: 'waiting',
    startedAtMs: undefined,
    progress: '',
    beatAtMs: undefined,
  };
}
