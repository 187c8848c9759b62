import { formatTime } from '../calls/line.ts';
import { enterChild, type Place, toCallKey } from '../calls/nesting.ts';
import { toPrintable } from '../terminal/text.ts';
import type { ShownRecord } from './records.ts';

interface Question {
  readonly callId: string;
  readonly name: string;
  readonly expiresAtMs: number | undefined;
  /** What was answered. */
  answer: string | undefined;
}

/** Follows what a log begins and does not end: calls that touch the world, and questions. */
export class LeftOpen {
  readonly #starts = new Map<string, string>();
  readonly #questions = new Map<string, Question>();

  // What waits belongs to a plan, and no model is told of it.
  #inPlan = false;

  follow(record: ShownRecord, place?: Place): void {
    switch (record.type) {
      case 'run-start':
      case 'plan-start':
        if (place === undefined) this.#inPlan = record.type === 'plan-start';
        return;
      case 'child-event':
        this.follow(record.event, enterChild(record.callId, record.sessionId, place));
        return;
      case 'approval-request': {
        const { callId, name, expiresAtMs } = record.pending;
        // Within a call nobody goes on with it later.
        if (place === undefined) this.#questions.set(callId, { callId, name, expiresAtMs, answer: undefined });
        return;
      }
      case 'approval-answer': {
        const question = this.#questions.get(record.callId);
        if (question !== undefined && place === undefined) question.answer = record.answer.type;
        return;
      }
      case 'tool-call-start':
        this.#starts.set(toCallKey(record.callId, place), record.name);
        return;
      case 'tool-call-end':
        this.#starts.delete(toCallKey(record.callId, place));
        if (place === undefined) this.#questions.delete(record.callId);
        return;
      case 'run-end':
      case 'plan-end':
        if (place === undefined && record.status !== 'suspended') this.#questions.clear();
        return;
      default:
    }
  }

  /** A line for each. `idOf`: an id as short as it can be typed. */
  describe(idOf: (callId: string) => string): readonly string[] {
    const starts = [...this.#starts.values()].map(
      (name) => `  \`${toPrintable(name)}\` was started and never ended: whether it took effect is not known.`,
    );
    const questions = [...this.#questions.values()].map(({ callId, name, expiresAtMs, answer }) => {
      const call = `  \`${toPrintable(name)}\` (${toPrintable(idOf(callId))})`;
      if (answer === 'deny' && !this.#inPlan) return `${call} is denied; the model is told when the run is resumed.`;
      if (answer === 'deny') return `${call} is denied, and ends so when the plan is resumed.`;
      if (answer !== undefined)
        return `${call} is approved, and runs when the ${this.#inPlan ? 'plan' : 'run'} is resumed.`;
      return `${call} waits for an answer${expiresAtMs === undefined ? '' : ` until ${formatTime(expiresAtMs)}`}.`;
    });
    return [...starts, ...questions];
  }
}
