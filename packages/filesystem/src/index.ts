export { memoryFilesystem } from './memory/memory.ts';
export { selfRunningFiles } from './paths/self-running-files.ts';
export type { FilesystemOptions } from './staging/options.ts';
export { fileTools } from './tools/file-tools.ts';
