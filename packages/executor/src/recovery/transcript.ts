import { type FinishReason, HoldfastError, type Message, type ModelUsage, type Outcome } from '@holdfast/core';
import { isPlainObject, type RecordedOutcome, readOutcome } from '@holdfast/core/internal';
import type { CutReason } from '@holdfast/core/types';
import type { LogRecord, Session } from '@holdfast/session';
import type { OpenRun } from '@holdfast/session/internal';
import { findOmitted } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import type { IdentifiedCall } from '../call/types.ts';
import { addUsage, nothingSaid, type Transcript } from '../run/transcript.ts';
import { isSameCall } from '../turn/run-calls.ts';
import { toToolMessage } from '../turn/run-turn.ts';

/** Reads the transcript of `run` from the session's log. @throws HoldfastError `log.unreadable`, `replay.failed`. */
export function readTranscript(session: Session, { run, seq }: OpenRun): Transcript {
  const messages: Message[] = [];
  const outcomes: Outcome[] = [];
  let { turns, text, usage, returns, corrections }: Omit<Transcript, 'messages' | 'outcomes'> = nothingSaid;
  let startedAtMs: number | undefined;
  let open: Reading | undefined;
  const closeTurn = (): void => {
    if (open === undefined) return;
    for (const outcome of settle(open).values()) {
      messages.push(toToolMessage(outcome));
      outcomes.push(outcome);
    }
  };
  for (const record of session.records(seq)) {
    if (record['run'] !== run) continue;
    switch (record.type) {
      case 'run-start':
        startedAtMs = Number(record['atMs']);
        messages.push({ role: 'user', text: String(record['input']) });
        break;
      case 'model-message': {
        closeTurn();
        open = readMessage(record);
        turns = open.turn;
        if (open.message.text !== '') text = open.message.text;
        usage = addUsage(usage, record['usage'] as unknown as ModelUsage | undefined);
        messages.push(open.message);
        break;
      }
      case 'tool-call-end':
        if (record['parentId'] === undefined && open !== undefined)
          open.ends.push(readOutcome(record['outcome'] as unknown as RecordedOutcome));
        break;
      case 'feedback': {
        const said = readTold(record);
        // A record of a failed checker is not a message to the model.
        if (said === '' && record['source'] !== 'provider') break;
        closeTurn();
        open = undefined;
        if (said !== '') messages.push({ role: 'user', text: said });
        if (said !== '' && record['source'] === 'completion') returns += 1;
        if (said !== '' && record['source'] === 'output') corrections += 1;
        break;
      }
      default:
    }
  }
  if (startedAtMs === undefined) {
    throw new HoldfastError('replay.failed', `The log does not hold the beginning of the run ${run}.`, {
      data: { reason: 'run_start', run },
    });
  }
  const said = { messages, turns, text, usage, outcomes, returns, corrections, startedAtMs };
  if (open === undefined) return said;
  const { turn, calls, reason, message } = open;
  return { ...said, open: { turn, text: message.text, calls, reason, settled: settle(open) } };
}

/** The text of a `feedback` record. */
function readTold({ given }: LogRecord): string {
  const entries = Array.isArray(given) ? given.filter(isPlainObject) : [];
  return entries.map(({ text }) => String(text)).join('\n\n');
}

interface Reading {
  readonly turn: number;
  readonly message: Extract<Message, { role: 'assistant' }>;
  readonly calls: readonly IdentifiedCall[];
  readonly reason: FinishReason | CutReason;
  readonly ends: Outcome[];
}

function readMessage({ turn, text, calls, reason, providerMetadata }: LogRecord): Reading {
  const asked = (Array.isArray(calls) ? calls.filter(isPlainObject) : []).map(
    ({ id, name, arguments: raw, omitted }): IdentifiedCall => {
      // Recorded calls always have an id.
      const call = identifyCall({ id: String(id), name: String(name), arguments: raw }, () => String(id));
      return omitted === undefined ? call : { ...call, problem: findOmitted(omitted) };
    },
  );
  return {
    turn: Number(turn),
    calls: asked,
    reason: reason as Reading['reason'],
    ends: [],
    message: {
      role: 'assistant',
      text: String(text),
      calls: asked.map(({ id, name, arguments: raw }) => ({ id, name, arguments: raw })),
      providerMetadata,
    },
  };
}

/** Matches ends to calls. Duplicate calls share one end; ids used for two calls end in call order. */
function settle({ calls, ends }: Reading): Map<number, Outcome> {
  const byId = Map.groupBy(ends, ({ callId }) => callId);
  const first = new Map<string, { readonly call: IdentifiedCall; readonly outcome: Outcome | undefined }>();
  const settled = new Map<number, Outcome>();
  for (const [index, call] of calls.entries()) {
    const same = first.get(call.id);
    const repeated = same !== undefined && isSameCall(same.call, call);
    const outcome = repeated ? same.outcome : byId.get(call.id)?.shift();
    if (same === undefined) first.set(call.id, { call, outcome });
    if (outcome !== undefined) settled.set(index, outcome);
  }
  return settled;
}
