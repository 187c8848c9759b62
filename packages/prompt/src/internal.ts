export { guide } from './guide/guide.ts';
export { toOutputFormat } from './output/format.ts';
