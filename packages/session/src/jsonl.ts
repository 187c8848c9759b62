export type { ChainProblem } from './log/chain.ts';
export type { SnapshotOptions } from './log/snapshot-gauge.ts';
export { type OpenedJsonlLog, type OpenJsonlOptions, openJsonlLog } from './stores/jsonl/open.ts';
export { type LogProblem, type LogReading, type ReadLogOptions, readLog, type TornTail } from './stores/jsonl/read.ts';
export { type JsonlOptions, type JsonlStore, jsonlStore } from './stores/jsonl/store.ts';
