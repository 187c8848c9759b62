export { site as default } from '../src/site.ts';
