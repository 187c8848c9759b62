export { type OpenedJsonlLog, type OpenJsonlOptions, openJsonlLog } from './jsonl-open.ts';
export { type JsonlOptions, type JsonlStore, jsonlStore } from './jsonl-store.ts';
export { type LogProblem, type LogReading, type ReadLogOptions, readLog, type TornTail } from './read-log.ts';
export type { ChainProblem } from './record-chain.ts';
export type { SnapshotOptions } from './snapshot-gauge.ts';
