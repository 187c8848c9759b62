import type { Json } from '@holdfast/core';
import type { PinnedTool } from './pinned-tool.ts';
import type { Command } from './process-command.ts';
import type { ProgramEnd } from './run-program.ts';

/** What is to be run for one call. */
export interface ProgramCall {
  readonly command: Command;
  /** What it reads on standard input. */
  readonly input: string;
  /** Folders that it needs, where a sandbox shows only some. */
  readonly folders: readonly string[];
}

/** A language in which a tool is a program that is run once a call. */
export interface ToolLanguage {
  /** @param sha256 - what the tool file has to be, in hexadecimal. @throws HoldfastError where it cannot be run. */
  prepare(tool: PinnedTool, input: Json, sha256: string): Promise<ProgramCall>;
  /** What the tool returned. @throws what it threw. */
  read(tool: PinnedTool, end: Extract<ProgramEnd, { readonly type: 'exited' }>): unknown;
}
