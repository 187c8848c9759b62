import { HoldfastError, type Outcome, type PendingApproval, type ToolCallEndEvent } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import { indexNodes } from '../plan/positions.ts';
import { readPlan } from '../plan/read.ts';
import { buildTrace, type TraceHead } from './build.ts';
import { hasEnded, type NodeClosing, type NodeFacts, toCallId } from './facts.ts';
import type { PlanStatus, PlanTrace } from './trace.ts';

/** A run of a plan, as recorded in a log. */
export interface PlanLog {
  readonly head: TraceHead;
  /** In plan order. */
  readonly facts: readonly (NodeFacts | undefined)[];
  /** Positions of the nodes that have ended, in the order of ending. */
  readonly ended: readonly number[];
}

/** The run named `run`, by default the latest; `undefined` if there is none. */
export function readPlanLog(records: Iterable<LogRecord>, run: number | undefined): PlanLog | undefined {
  let reader: PlanLogReader | undefined;
  for (const record of records) {
    if (record.type === 'plan-start' && (run === undefined || record['plan'] === run)) {
      reader = new PlanLogReader(record);
    } else reader?.note(record);
  }
  return reader?.read();
}

/** The start of the run, as recorded in the log. */
export function readPlanHead(records: Iterable<LogRecord>, run: number): TraceHead | undefined {
  for (const record of records) {
    if (record.type === 'plan-start' && record['plan'] === run) return new PlanLogReader(record).read().head;
  }
  return undefined;
}

class PlanLogReader {
  readonly #run: number;
  readonly #facts: (NodeFacts | undefined)[];
  readonly #ended: number[] = [];
  readonly #byCall = new Map<string, number>();
  readonly #byNode: ReadonlyMap<unknown, number>;
  #head: TraceHead;

  constructor({ plan: run, document, digest, request, sessionId, atMs }: LogRecord) {
    const reading = readPlan(document);
    if (typeof run !== 'number' || reading.type !== 'plan') {
      throw new HoldfastError('work.not_open', 'Cannot read a run of a plan in this log: another program wrote it.', {
        data: { reason: 'plan_unknown' },
      });
    }
    const { plan } = reading;
    this.#run = run;
    this.#facts = Array.from(plan.nodes, () => undefined);
    this.#byNode = indexNodes(plan).byId;
    for (const [position, { id }] of plan.nodes.entries()) this.#byCall.set(toCallId(run, id), position);
    this.#head = {
      sessionId: String(sessionId),
      run,
      request: typeof request === 'string' ? request : undefined,
      plan,
      digest: String(digest),
      status: 'running',
      startedAtMs: atMs,
      endedAtMs: undefined,
    };
  }

  note(record: LogRecord): void {
    switch (record.type) {
      case 'plan-resume':
        if (record['plan'] === this.#run) this.#head = { ...this.#head, status: 'running', endedAtMs: undefined };
        return;
      case 'plan-end':
        if (record['plan'] !== this.#run) return;
        this.#head = { ...this.#head, status: record['status'] as PlanStatus, endedAtMs: record.atMs };
        return;
      case 'plan-node':
        if (record['plan'] !== this.#run) return;
        // Written by a run, so it has these fields.
        this.#end(this.#byNode.get(record['node']), record as unknown as NodeClosing);
        return;
      case 'tool-call-end':
        if (isPlainObject(record['outcome'])) this.#end(this.#placeOf(record), record as unknown as ToolCallEndEvent);
        return;
      case 'tool-call-start': {
        const callId = String(record['callId']);
        this.#set(this.#placeOf(record), { type: 'running', callId, startedAtMs: record.atMs });
        return;
      }
      case 'approval-request': {
        const { pending } = record;
        if (!isPlainObject(pending)) return;
        const question = pending as unknown as PendingApproval;
        this.#set(this.#placeOf(pending), { type: 'suspended', pending: question, answered: false });
        return;
      }
      case 'approval-answer': {
        const position = this.#placeOf(record);
        const known = this.#facts[position ?? -1];
        if (known?.type !== 'suspended' || known.pending.digest !== record['digest']) return;
        this.#set(position, { ...known, answered: true });
        return;
      }
      case 'resource-apply-failed':
        this.#doubt(this.#byCall.get(String(record['callId'])), String(record['message']));
        return;
      default:
    }
  }

  read(): PlanLog {
    return { head: this.#head, facts: this.#facts, ended: this.#ended };
  }

  /** Finds the node of a direct call; ignores nested calls and calls of an agent's run. */
  #placeOf({ callId, parentId, run }: Readonly<Record<string, unknown>>): number | undefined {
    return parentId === undefined && run === undefined ? this.#byCall.get(String(callId)) : undefined;
  }

  #set(position: number | undefined, facts: NodeFacts): void {
    if (position !== undefined && !hasEnded(this.#facts[position])) this.#facts[position] = facts;
  }

  #end(position: number | undefined, facts: ToolCallEndEvent | NodeClosing): void {
    if (position === undefined || hasEnded(this.#facts[position])) return;
    this.#facts[position] = facts;
    this.#ended.push(position);
  }

  /** The record says that the call is done, but its staged changes could not be applied. */
  #doubt(position: number | undefined, message: string): void {
    const known = this.#facts[position ?? -1];
    if (position === undefined || known?.type !== 'tool-call-end') return;
    const { callId, name } = known.outcome;
    const none = { value: null, rendered: '' };
    const outcome: Outcome = {
      kind: 'in-doubt',
      callId,
      name,
      code: 'resource.failed',
      reason: 'apply',
      message,
      text: message,
      ...none,
    };
    this.#facts[position] = { ...known, outcome };
  }
}

/**
 * Reads the trace of a plan from the log of its session. It equals the trace that the run returned; for a run that has not ended, it has
 * the facts so far. A log without content has no inputs and no values. `run`: as named in the records, by default the latest.
 *
 * @throws HoldfastError `work.not_open`.
 */
export function readTrace(records: Iterable<LogRecord>, run?: number): PlanTrace {
  const log = readPlanLog(records, run);
  if (log !== undefined) return buildTrace(log.head, log.facts);
  throw new HoldfastError(
    'work.not_open',
    run === undefined
      ? 'These records contain no run of a plan.'
      : `These records contain no run ${run} of a plan. The field \`plan\` of \`plan-start\` records names the runs.`,
    { data: { reason: 'plan_unknown', ...(run === undefined ? {} : { run }) } },
  );
}
