export { type CodeFiles, readCodeFiles } from './imports/code-files.ts';
export type { EnvironmentRequest } from './isolate/environment.ts';
export { defaultIsolation, describeIsolation, type TierState } from './isolate/tiers.ts';
export type { LockChange } from './pins/changes.ts';
export type { ComparedTool, LockState } from './pins/compare.ts';
export { followImports } from './pins/folder.ts';
export { isRegistryCurrent } from './pins/warm-start.ts';
export { type FolderScan, type ScannedFile, scanFolder } from './scan/folder.ts';
