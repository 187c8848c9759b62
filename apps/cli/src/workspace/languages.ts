import type { Language } from '@holdfast/loader/language';
import { python } from '@holdfast/loader-python';

/** The languages of tool files besides JavaScript and TypeScript. */
export const languages: readonly Language[] = [python()];
