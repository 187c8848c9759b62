export { fileOverrides } from './overrides/files.ts';
