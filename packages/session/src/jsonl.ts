export { type OpenedJsonlLog, openJsonlLog } from './jsonl-open.ts';
export { type JsonlStore, jsonlStore } from './jsonl-store.ts';
export { type LogProblem, type LogReading, readLog } from './read-log.ts';
