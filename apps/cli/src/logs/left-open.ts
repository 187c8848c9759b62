import { formatTime } from '../calls/line.ts';
import { enterChild, type Place, toCallKey } from '../calls/nesting.ts';
import { toPrintable } from '../terminal/text.ts';
import type { ShownRecord } from './records.ts';

interface Question {
  readonly callId: string;
  readonly name: string;
  readonly expiresAtMs: number | undefined;
  /** The answer, if any. */
  answer: string | undefined;
}

/** Tracks calls with external effects and questions that a log begins and does not end. */
export class LeftOpen {
  readonly #starts = new Map<string, string>();
  readonly #questions = new Map<string, Question>();

  // Calls of a plan have no model to tell.
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
        // A question within a call cannot be resumed.
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

  /** One line each. `idOf`: the shortened id. */
  describe(idOf: (callId: string) => string): readonly string[] {
    const starts = [...this.#starts.values()].map(
      (name) => `  \`${toPrintable(name)}\` was started and never ended: its effect is unknown.`,
    );
    const questions = [...this.#questions.values()].map(({ callId, name, expiresAtMs, answer }) => {
      const call = `  \`${toPrintable(name)}\` (${toPrintable(idOf(callId))})`;
      if (answer === 'deny' && !this.#inPlan) return `${call} is denied; the model is told when the run is resumed.`;
      if (answer === 'deny') return `${call} is denied, and ends when the plan is resumed.`;
      if (answer !== undefined)
        return `${call} is approved, and runs when the ${this.#inPlan ? 'plan' : 'run'} is resumed.`;
      return `${call} is pending${expiresAtMs === undefined ? '' : ` until ${formatTime(expiresAtMs)}`}.`;
    });
    return [...starts, ...questions];
  }
}
