import type { ToolMetadata } from './check-metadata.ts';

/** A verified tool whose bytes are kept. */
export interface PinnedTool {
  /** Relative to the tools folder. */
  readonly file: string;
  readonly metadata: ToolMetadata;
  /** SHA-256 in hexadecimal: of the file and its relative imports where a lock pins them, of the file alone otherwise. */
  readonly digest: string;
  /** Absolute path of the file to import: in the copy named by `digest` where a lock pins it, in the tools folder otherwise. */
  readonly entry: string;
  /**
   * SHA-256 in hexadecimal of every file of the copy, by absolute path: a process of its own lets none run that is another one, however
   * late it is imported. Absent: only `entry` is known.
   */
  readonly files?: ReadonlyMap<string, string>;
  /**
   * SHA-256 in hexadecimal of the files that a command names, by absolute path: what has to hold when it is called. Absent: they lie in
   * a copy, which is compared as a whole.
   */
  readonly commandFiles?: ReadonlyMap<string, string>;
}
