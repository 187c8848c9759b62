export { filesystemGuard } from './filesystem-guard.ts';
export type { FilesystemGuardOptions } from './options.ts';
export { withoutSecrets } from './without-secrets.ts';
