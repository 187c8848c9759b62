export type { ShellGuardOptions } from './options.ts';
export { shellGuard } from './shell-guard.ts';
