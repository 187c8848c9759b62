export { createFacts, type FactsOptions } from './describe/create.ts';
export { fetchFacts } from './describe/fetch.ts';
export { type FileUse, fileFacts } from './describe/files.ts';
export { mcpFacts } from './describe/mcp.ts';
export { describePatch, patchFacts } from './describe/patch.ts';
export { describeCommand, shellFacts } from './describe/shell.ts';
export { noFacts, unclearFacts } from './describe/union.ts';
export { memoryDisk } from './places/memory-disk.ts';
export { findWithin } from './places/within.ts';
