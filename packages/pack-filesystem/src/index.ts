export { type FilesystemGuardOptions, filesystemGuard } from './filesystem-guard.ts';
export type { SearchArguments } from './searches.ts';
