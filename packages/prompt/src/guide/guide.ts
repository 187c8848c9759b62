import type { Guide } from '@holdfast/core/types';
import { judgeAnswer } from './judge-answer.ts';
import { countLast, giveFeedback } from './speak.ts';

/** Runs the feedback, completion checker and output of a prompt. */
export const guide: Guide = Object.freeze({ giveFeedback, countLast, judgeAnswer });
