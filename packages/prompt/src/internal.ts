export { guide } from './guide/guide.ts';
export { toOutputFormat } from './output/format.ts';
export type { AppliedOverride } from './overrides/resolve.ts';
