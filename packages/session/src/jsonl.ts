export type { ChainProblem } from './log/chain.ts';
export type { SnapshotOptions } from './log/snapshot-gauge.ts';
export {
  type JsonlStore,
  jsonlStore,
  type OpenedJsonlLog,
  type OpenJsonlOptions,
  openJsonlLog,
} from './stores/jsonl/open.ts';
export { type LogProblem, type LogReading, type ReadLogOptions, readLog, type TornTail } from './stores/jsonl/read.ts';
export { createJsonlLog, type JsonlLog, type JsonlOptions } from './stores/jsonl/store.ts';
