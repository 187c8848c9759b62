export { foldName } from './resolve/names.ts';
export type { RegisteredKind, RegisteredPack } from './resolve/types.ts';
