import type { Guide } from '@holdfast/core';
import { judgeAnswer } from './judge-answer.ts';
import { countLast, giveFeedback } from './speak.ts';

/** What pages with feedback, a completion checker or an output bring to a run. */
export const guide: Guide = Object.freeze({ giveFeedback, countLast, judgeAnswer });
