export { memoryFilesystem } from './memory.ts';
export type { FilesystemOptions } from './options.ts';
