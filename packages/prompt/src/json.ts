export { findTextEnd, type StepBudget } from './json/brackets.ts';
export { type ExtractedJson, extractJson } from './json/extract-json.ts';
export { type LenientReading, type Repair, readLenientJson } from './json/lenient.ts';
