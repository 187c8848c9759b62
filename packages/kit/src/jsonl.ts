export { jsonlStore, readLog } from '@holdfast/session/jsonl';
