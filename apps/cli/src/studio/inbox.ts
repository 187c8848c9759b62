import { createHash, randomBytes } from 'node:crypto';
import { type ApprovalAnswer, HoldfastError, type PendingApproval } from '@holdfast/core';
import { describeThrown, toReason } from '@holdfast/core/internal';
import { answerApproval } from '@holdfast/executor';
import { readLog } from '@holdfast/session/jsonl';
import { describeFacts } from '../calls/facts.ts';
import { openPreviews } from '../calls/preview.ts';
import { describeChange, listArgumentLines } from '../calls/question.ts';
import { openSession } from '../logs/open-session.ts';
import { replayLog } from '../logs/replay.ts';
import { canBeGranted } from '../run/ask-person.ts';
import type { Host } from '../terminal/host.ts';
import type { CallIndex, IndexedLog } from './call-index.ts';

/** A question with everything that a person needs for the answer. JSON. */
export interface ShownQuestion {
  /** Names this question as it is shown here: an answer with it is an answer to this text. */
  readonly nonce: string;
  readonly session: string;
  readonly workspace: string;
  /** The `ref` of the log. */
  readonly log: string;
  readonly callId: string;
  readonly name: string;
  readonly dangerous: boolean;
  readonly grantable: boolean;
  /** The request of the run that asks, and its model. */
  readonly request?: string;
  readonly model?: string;
  readonly asks: readonly { readonly policy: string; readonly reason: string }[];
  readonly facts: readonly string[];
  readonly arguments: readonly string[];
  readonly changes: readonly { readonly title: string; readonly diff: readonly string[] }[];
  readonly note?: string;
  readonly digest: string;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
}

interface Found {
  readonly question: ShownQuestion;
  readonly pending: PendingApproval;
}

/** The questions that wait in all logs of this machine. */
export class Inbox {
  readonly #host: Host;
  readonly #index: CallIndex;
  /** By log, as long as its file is the same. */
  readonly #read = new Map<string, { readonly stamp: string; readonly found: readonly Found[] }>();
  /** By what is shown, so that a question keeps its nonce as long as it looks the same. */
  readonly #nonces = new Map<string, string>();

  constructor(index: CallIndex, host: Host) {
    this.#index = index;
    this.#host = host;
  }

  /** Oldest first, so that a new question moves no other one. */
  async list(): Promise<{ readonly questions: readonly ShownQuestion[]; readonly problems: readonly string[] }> {
    const nowMs = this.#host.clock.now();
    const problems: string[] = [];
    const questions: ShownQuestion[] = [];
    for (const log of this.#index.logs().filter(mayWait)) {
      try {
        questions.push(...(await this.#readLog(log)).map(({ question }) => question));
      } catch (thrown) {
        problems.push(`Session ${log.id}: ${describeThrown(thrown)}`);
      }
    }
    const open = questions.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
    return { questions: open.toSorted((one, other) => one.askedAtMs - other.askedAtMs), problems };
  }

  /**
   * Records the answer to a question as it was shown.
   *
   * @throws HoldfastError `approval.*`, `work.not_open`, `log.*`, `replay.*`.
   */
  async answer(nonce: string, answer: ApprovalAnswer): Promise<void> {
    const shown = [...this.#read.values()]
      .flatMap(({ found }) => found)
      .find(({ question }) => question.nonce === nonce);
    const log = shown && this.#index.log(shown.question.log);
    if (shown === undefined || log === undefined) throw changed();
    const { pending } = shown;
    // The staged changes are a part of the question.
    const now = await this.#makeQuestions(log);
    const same = now.find(
      ({ pending: { callId, run, turn } }) => callId === pending.callId && run === pending.run && turn === pending.turn,
    );
    if (same !== undefined && same.question.nonce !== nonce) throw changed();
    const session = await openSession(log, log.workspace, this.#host, { warns: false });
    try {
      await answerApproval(session, pending, answer, { clock: this.#host.clock });
    } finally {
      await session.close();
    }
  }

  async #readLog(log: IndexedLog): Promise<readonly Found[]> {
    const { ref, stamp } = log;
    const known = this.#read.get(ref);
    if (known?.stamp === stamp) return known.found;
    const found = await this.#makeQuestions(log);
    this.#read.set(ref, { stamp, found });
    return found;
  }

  async #makeQuestions({ ref, id, path, workspace }: IndexedLog): Promise<readonly Found[]> {
    const { records, problem } = readLog(path);
    if (problem !== undefined) throw new HoldfastError(problem.code, problem.message, { data: toReason(problem) });
    const { session } = replayLog(records);
    const { calls, runs } = session.openWork();
    const preview = openPreviews(workspace, this.#host.clock);
    const found: Found[] = [];
    for (const { approvals } of calls) {
      const last = approvals.at(-1);
      if (last === undefined || last.answer !== undefined) continue;
      const { pending, askedAtMs } = last;
      const run = runs.find((open) => open.run === pending.run);
      const start = run && records.find(({ seq }) => seq === run.seq);
      const { changes = [], changesUnknown } = await preview(pending);
      const asked = {
        session: id,
        workspace,
        log: ref,
        callId: pending.callId,
        name: pending.name,
        dangerous: pending.dangerous,
        grantable: canBeGranted(pending),
        ...(typeof start?.['input'] === 'string' ? { request: start['input'] } : {}),
        ...(typeof start?.['model'] === 'string' ? { model: start['model'] } : {}),
        asks: pending.asks.map(({ policy, reason = 'no reason given' }) => ({ policy, reason })),
        facts: pending.facts === undefined ? [] : describeFacts(pending.facts),
        arguments: listArgumentLines(pending.input),
        changes: changes.map((change) => ({
          title: `${change.change} ${describeChange(change)}`,
          diff: (change.diff ?? '').split('\n').slice(0, -1),
        })),
        ...(changesUnknown === undefined ? {} : { note: `Changes unknown: ${changesUnknown}` }),
        digest: pending.digest,
        askedAtMs,
        expiresAtMs: pending.expiresAtMs,
      };
      found.push({ pending, question: { nonce: this.#nonceOf(asked), ...asked } });
    }
    return found;
  }

  #nonceOf(asked: object): string {
    const shown = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
    const nonce = this.#nonces.get(shown) ?? randomBytes(16).toString('base64url');
    this.#nonces.set(shown, nonce);
    return nonce;
  }
}

/** Replaying a log takes time; the index knows which ones have a question. */
function mayWait({ calls }: IndexedLog): boolean {
  return calls.some(({ state }) => state === 'waiting');
}

function changed(): HoldfastError {
  return new HoldfastError(
    'approval.mismatch',
    'The question is not the one that was shown: its call, its files or its rules have changed. Review it again before you answer.',
  );
}
