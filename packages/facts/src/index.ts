export { createFacts, type FactsOptions } from './describe/create.ts';
export { type FetchFactsOptions, type FetchUse, fetchFacts } from './describe/fetch.ts';
export { type FileFactsOptions, type FileUse, fileFacts } from './describe/files.ts';
export { type McpFactsOptions, mcpFacts } from './describe/mcp.ts';
export { describePatch, type PatchFactsOptions, patchFacts } from './describe/patch.ts';
export { type CommandArgument, describeCommand, type ShellFactsOptions, shellFacts } from './describe/shell.ts';
export { joinFacts, noFacts, unclearFacts } from './describe/union.ts';
export { type MemoryFiles, memoryDisk } from './places/memory-disk.ts';
export { type Found, findWithin } from './places/within.ts';
