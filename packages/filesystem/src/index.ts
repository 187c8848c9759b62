export { fileTools } from './file-tools.ts';
export { memoryFilesystem } from './memory.ts';
export type { FilesystemOptions } from './options.ts';
export { runsByItself } from './self-running.ts';
export { type SelfRunningFilesOptions, selfRunningFiles } from './self-running-files.ts';
