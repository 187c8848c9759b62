export { fileOverrides } from './override-files.ts';
