export { type FilesystemGuardOptions, filesystemGuard } from './filesystem-guard.ts';
export type { SecretPatterns } from './known-secrets.ts';
export type { SearchArguments } from './searches.ts';
export { withoutSecrets } from './without-secrets.ts';
