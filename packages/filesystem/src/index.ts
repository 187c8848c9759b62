export { fileTools } from './file-tools.ts';
export { memoryFilesystem } from './memory.ts';
export type { FilesystemOptions } from './options.ts';
