import { formatUnfinished } from '../calls/feedback.ts';
import type { LineStyle } from '../calls/line.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { describeStyle } from './work.ts';

export interface AnswerEnd {
  /** Absent when there is none. */
  readonly answer: string | undefined;
  /** What is missing in it. */
  readonly unfinished?: string | undefined;
  /** Why there is none, and what to do. */
  describe(style: LineStyle): readonly string[];
}

/** Keeps stdout for the answer of a run or a plan; why there is none goes to stderr. */
export function openAnswers(host: Host): { end(end: AnswerEnd): void } {
  const write = host.reserveStdout();
  const { stderr, environment } = host;
  const style = describeStyle({ stdout: stderr, environment });
  const tell = (lines: readonly string[]): void => {
    for (const line of lines) stderr.write(`${line}\n`);
  };
  return {
    end({ answer, unfinished, describe }) {
      if (answer !== undefined) {
        const text = toPrintableBlock(answer.trim());
        if (text !== '') write(`${text}\n`);
        tell(formatUnfinished(unfinished, style));
      } else {
        tell(describe(style));
      }
    },
  };
}
