import type { Language } from '@holdfast/loader/language';
import { python } from '@holdfast/loader-python';

/** The languages of tool files that the program brings beside JavaScript and TypeScript. */
export const languages: readonly Language[] = [python()];
