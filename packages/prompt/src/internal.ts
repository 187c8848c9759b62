export { guide } from './guide/judge-answer.ts';
export { toOutputFormat } from './output/format.ts';
export type { AppliedOverride } from './overrides/resolve.ts';
